import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import process from 'node:process';
import { baseline, findLastRelease, git, root } from '../last-release.ts';
import { missingMigration } from '../schema-difference.ts';
import { checkMigrations } from './check.ts';

const folder = 'prisma/migrations';

/** The names of all migrations, oldest first. */
export async function readMigrations(path = join(root, folder)): Promise<string[]> {
  return (await readdir(path)).filter((name) => name !== 'migration_lock.toml').sort();
}

/** Checks prisma/migrations, or what stands in its place in a test. @returns one line for each problem */
export async function checkFolder(path = join(root, folder)): Promise<string[]> {
  const names = await readMigrations(path);
  const paths = names
    .filter((name) => name > baseline)
    .map((name) => relative(process.cwd(), join(path, name, 'migration.sql')));
  return [...(await compareWithRelease(names)), ...(await checkMigrations(paths))];
}

/** A released migration was applied somewhere; one before it would be applied there after it, and elsewhere before. */
async function compareWithRelease(names: string[]): Promise<string[]> {
  const release = await findLastRelease();
  if (release === undefined) {
    process.stderr.write(
      'not compared with the migrations of the last release, which this clone does not have\n',
    );
    return [];
  }
  const changed = await git('diff', '--name-only', '--diff-filter=a', release.commit, '--', folder);
  const tree = await git('ls-tree', '--name-only', release.commit, `${folder}/`);
  const released = tree.split('\n').map((path) => path.slice(folder.length + 1));
  const newest =
    released
      .filter((name) => /^\d/.test(name))
      .sort()
      .at(-1) ?? '';
  return [
    ...changed
      .split('\n')
      .filter((path) => path !== '')
      .map((path) => `${path} was released with ${release.version}: restore it and write a new migration`),
    ...names
      .filter((name) => !released.includes(name) && !(name > newest && /^\d{14}_[a-z][a-z0-9_]*$/.test(name)))
      .map(
        (name) =>
          `${folder}/${name} must be named after ${newest}, the newest of the release ${release.version}`,
      ),
  ];
}

/**
 * Checks that the migrations make what prisma/schema.prisma says.
 *
 * @param compare returns the SQL that is missing, empty when none is
 * @returns one problem, or none
 */
export async function checkSchema(compare = missingMigration): Promise<string[]> {
  const sql = await compare();
  if (sql === '') return [];
  return [
    `prisma/schema.prisma says what no migration makes: npm run migration:new -- name writes this one.\n\n${sql.trim()}\n`,
  ];
}
