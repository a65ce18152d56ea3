import { execFile } from 'node:child_process';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const byIndex = 'A domain is imported by its index.ts.';

/** A file, and what it may not import. */
const rejected = [
  ['src/domains/stores/routes.ts', '../posts/repository.ts', byIndex],
  ['src/domains/auth/passkeys/routes.ts', '../../posts/routes.ts', byIndex],
  ['src/domains/auth/providers/clients/x.ts', '../../../posts/sql.ts', byIndex],
  ['src/domains/index.ts', './posts/service.ts', byIndex],
  ['src/cli/users.ts', '../domains/auth/accounts/service.ts', byIndex],
  ['src/domains/new/service.ts', '../../app.ts', 'The app is made of this'],
  ['src/domains/new/service.ts', '../index.ts', byIndex],
  ['src/http/plugins/x.ts', '../../domains/auth/index.ts', 'What domains build on knows no domain.'],
  ['src/infrastructure/mail/x.ts', '../../domains/auth/index.ts', 'What domains build on knows no domain.'],
  ['src/infrastructure/mail/x.ts', '../../http/errors.ts', 'Infrastructure does not know HTTP.'],
  ['src/app.ts', './development/login/page.ts', 'Production does not load development/'],
  ['src/domains/auth/service/login.ts', 'fastify', 'A service knows a RequestContext, not Fastify.'],
  ['src/domains/new/feature/service.ts', '@fastify/jwt', 'A service knows a RequestContext, not Fastify.'],
  ['src/domains/new/feature/repository.ts', '../../../http/errors.ts', 'A repository does not know HTTP.'],
] as const;

const allowed = [
  ['src/domains/stores/routes.ts', '../posts/index.ts'],
  ['src/domains/auth/passkeys/routes.ts', '../sessions/service.ts'],
  ['src/domains/auth/passkeys/routes.ts', '../../posts/index.ts'],
  ['src/domains/auth/passkeys/service.ts', '../../../http/errors.ts'],
  ['src/domains/auth/routes.ts', 'fastify'],
  ['src/domains/auth/repository.ts', '../../infrastructure/database/sql.ts'],
  ['src/app.ts', './domains/auth/index.ts'],
  ['src/server.ts', './development/embedded-postgres/server.ts'],
] as const;

/** The lines of Biome about errors, with the rules of the repository. */
async function lint(directory: string): Promise<string[]> {
  const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));
  const args = [biome, 'lint', '--max-diagnostics=none', '--reporter=github', directory];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: directory }, (_error, stdout) =>
      resolve(stdout.split('\n').filter((line) => line.startsWith('::error'))),
    );
  });
}

t.test('each rule of imports rejects what is against it, in domains that it does not name', async (t) => {
  const directory = t.testdir();
  const plugins = [fileURLToPath(import.meta.resolve('#package/scripts/import-rules.grit'))];
  await writeFile(join(directory, 'biome.json'), JSON.stringify({ plugins }));
  const add = async (path: string, text: string) => {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await appendFile(join(directory, path), text);
  };
  // Each in a folder of its own, because some are of one file.
  for (const [index, [path, source]] of rejected.entries())
    await add(`${index}/${path}`, `export * from '${source}';\n`);
  for (const [path, source] of allowed) await add(path, `export * from '${source}';\n`);
  await add('src/infrastructure/x.ts', "export const load = () => import('../development/login/page.ts');\n");
  const errors = await lint(directory);
  for (const [index, [path, source, message]] of rejected.entries()) {
    const error = errors.find((line) => line.includes(`${index}/${path}`));
    t.match(error, message, `${path} imports ${source}`);
  }
  t.equal(errors.length, rejected.length, 'and nothing else');
});
