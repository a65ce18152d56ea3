import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { runScript } from './open-database.ts';
import { missingMigration, prismaFolder, toMigrations } from './schema-difference.ts';

/*
 * npm run migration:new <name>
 *
 * Writes the SQL that takes the existing migrations to prisma/schema.prisma: see schema-difference.ts. A migration runs in a
 * transaction, so that there is no BEGIN or COMMIT in it, or says in its first line that it does not.
 */

async function run(name: string | undefined): Promise<string> {
  if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new Error('usage: npm run migration:new <name>, in lower case with underscores');
  }
  const sql = await missingMigration();
  if (sql === '') return 'Nothing to do: the migrations match prisma/schema.prisma.';
  const files: string[] = [];
  for (const [index, migration] of toMigrations(sql).entries()) {
    const suffix = index === 0 ? '' : `_${index + 1}`;
    const folder = join(prismaFolder, 'migrations', `${await nextTimestamp()}_${name}${suffix}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'migration.sql'), migration);
    files.push(join(folder, 'migration.sql'));
  }
  return `Wrote ${files.join(' and ')}. Read what you commit.`;
}

/** The time in UTC, but after the latest migration, in case this machine's clock is behind. */
async function nextTimestamp(): Promise<string> {
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const names = await readdir(join(prismaFolder, 'migrations'));
  const latest = Math.max(...names.map((name) => Number.parseInt(name, 10) || 0));
  return Number(now) > latest ? now : String(latest + 1);
}

await runScript(async () => void process.stdout.write(`${await run(process.argv[2])}\n`));
