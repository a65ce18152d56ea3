import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transform } from 'esbuild';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { createDevMailbox, devMailboxRoutes } from '../../src/development/mailbox.ts';
import { environmentNames } from '../config/environments.ts';
import { createTestApp } from '../support/app.ts';
import { readText, root, temporaryFolder } from '../support/files.ts';
import { run, runScript } from '../support/processes.ts';
import { listen } from '../support/raw-http.ts';

/** The Markdown pages, relative to the repository. */
const pages = [
  'README.md',
  'README.ko.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['packages/client', 'packages/react', 'examples/web'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

/** The blocks of a page that are marked to be run, with their language. */
function blocksOf(page: string): { language: string; code: string }[] {
  const text = readText(page);
  const blocks = text.matchAll(/<!-- run -->\n```(\w+)\n([\s\S]*?)```/g);
  return Array.from(blocks, ([, language = '', code = '']) => ({ language, code }));
}

t.test('links between the pages lead somewhere', async (t) => {
  for (const page of pages) {
    const text = readText(page);
    for (const [, target = ''] of text.matchAll(/\]\(([^)]*)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path ? join(dirname(page), path) : page;
      t.ok(existsSync(join(root, file)), `${page}: ${target}`);
      if (anchor === undefined || !file.endsWith('.md')) continue;
      const headings = [...readText(file).matchAll(/^#+ (.*)$/gm)];
      const anchors = headings.map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
      );
      t.ok(anchors.includes(anchor), `${page}: ${target}`);
    }
  }
});

t.test('the page about the configuration has one row for each variable', async (t) => {
  const text = readText('docs/configuration.md');
  const firstCells = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[\w<>]+/g) ?? [],
  );
  const expected = environmentNames.filter((name) => name !== 'NODE_ENV');
  t.strictSame(firstCells.sort(), expected.sort());
});

// `npm run check -- document` holds that the Korean page has the same code.
t.test('docs/quickstart.md works as it is written', async (t) => {
  const mailbox = createDevMailbox();
  const routes = (app: FastifyInstance) => devMailboxRoutes(app, { mailbox, from: 'Dure' });
  const app = await createTestApp({}, { deliver: mailbox.send, routes });
  const origin = `http://127.0.0.1:${await listen(app.app)}`;
  // Below the repository, so that `@dure/client` is found.
  const folder = temporaryFolder(t, join(root, 'build'));
  const blocks = blocksOf('docs/quickstart.md').map(({ language, code }) => ({
    language,
    code: code.replaceAll('http://localhost:3000', origin),
  }));
  const languages = blocks.map(({ language }) => language);
  t.strictSame(languages, ['sh', 'ts', 'ts']);
  const codeIn = (wanted: string) =>
    blocks.flatMap(({ language, code }) => (language === wanted ? [code] : [])).join('\n');

  const shell = join(folder, 'quickstart.sh');
  writeFileSync(shell, codeIn('sh'));
  const { stdout } = await run('sh', [shell]);
  t.match(stdout, /"username":"curl_shop","name":"김두레"/);
  t.notMatch(stdout, '"success":false');

  // The second block goes on where the first one ends. Node.js 20 runs no TypeScript.
  const script = join(folder, 'quickstart.mjs');
  writeFileSync(script, (await transform(codeIn('ts'), { loader: 'ts' })).code);
  for (const stdout of ['김두레 false\ntrue\n', '김두레 true\ntrue\n'])
    t.strictSame(await runScript(script, []), { code: 0, stdout, stderr: '' });
});
