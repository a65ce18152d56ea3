import { join } from 'node:path';
import t from 'tap';
import { checkMigrations } from '../../scripts/check-migrations/check.ts';
import { checkFolder, checkSchema } from '../../scripts/check-migrations/folder.ts';
import { findLastRelease } from '../../scripts/last-release.ts';
import { differenceSql, readSchema, toMigrations } from '../../scripts/schema-difference.ts';
import { createTestDatabase } from '../support/database.ts';
import { committed, writeMigrations } from './migration-folders.ts';

/* What `npm run check -- migrations` rejects. */

const outside = '-- Outside a transaction\n';
const update = "UPDATE posts SET title = '글' WHERE id = n AND title = '';";
const block = (body: string) => `DO $$ BEGIN FOR n IN 1..9 LOOP ${body} END LOOP; END $$;`;

/** Each after the rule that it breaks. Of the rules of squawk alone, there are few. */
const dangerous = [
  'ban-drop-column: ALTER TABLE "users" DROP COLUMN "name";',
  'require-concurrent-index-deletion: DROP INDEX "users_name_idx";',
  'constraint-missing-not-valid: ALTER TABLE "users" ADD CONSTRAINT "c" CHECK ("name" <> \'\');',
  'constraint-missing-not-valid: ALTER TABLE "users" ADD CONSTRAINT "c" CHECK ("id" > 0) NOT VALID; ALTER TABLE "users" VALIDATE CONSTRAINT "c";',
  'constraint-missing-not-valid: ALTER TABLE "posts" ADD FOREIGN KEY ("id") REFERENCES "users"("id");',
  'transaction-nesting: BEGIN; CREATE TABLE "notes" ("id" INTEGER); COMMIT;',
  'drop-used: DROP FUNCTION search_key(text);',
  'drop-used: drop  trigger if exists "t" on "posts";',
  'drop-used: DROP TYPE "mail_topic";',
  `drop-used: ${outside}DROP INDEX CONCURRENTLY IF EXISTS "users_email_key";`,
  'drop-used: ALTER TABLE "posts" DROP CONSTRAINT "posts_images_check";',
  "rename-used: ALTER TYPE \"mail_topic\" RENAME VALUE 'a' TO 'b';",
  'rename-used: ALTER FUNCTION search_key RENAME TO search_text;',
  'returned-table: CREATE FUNCTION newest() RETURNS SETOF posts LANGUAGE sql STABLE AS $$ SELECT * FROM posts $$;',
  'rename-used: ALTER TABLE "users" SET SCHEMA old;',
  'drop-default: ALTER TABLE "users" ALTER COLUMN "language" DROP DEFAULT;',
  'enum-value: ALTER TYPE "mail_topic" ADD VALUE \'news\';',
  'long-lock: LOCK TABLE "users";',
  'long-lock: TRUNCATE "users";',
  `long-lock: ${outside}VACUUM FULL "users";`,
  'long-lock: ALTER TABLE "users" ADD COLUMN "number" SERIAL;',
  'second-lock: ALTER TABLE "users" ADD COLUMN "a" TEXT; ALTER TABLE "posts" ADD COLUMN "a" TEXT;',
  'second-lock: ALTER TABLE "posts" ADD COLUMN "a" TEXT; CREATE OR REPLACE VIEW "titles" AS SELECT "title" FROM "posts";',
  'disabled-trigger: ALTER TABLE "posts" DISABLE TRIGGER ALL;',
  'rows-in-transaction: UPDATE "posts" SET "title" = \'\';',
  'rows-in-transaction: WITH old AS (SELECT 1 AS id) DELETE FROM "posts" USING old WHERE posts.id = old.id;',
  'rows-in-transaction: INSERT INTO "notes" SELECT "id" FROM "users";',
  `rows-in-transaction: ${block(update)}`,
  "own-timeouts: SET lock_timeout = '1min';",
  'outside-transaction: CREATE INDEX CONCURRENTLY IF NOT EXISTS "i" ON "users"("name");',
  `outside-transaction: ${outside}CREATE TABLE "notes" ("id" INTEGER);`,
  `outside-transaction: ${outside}SELECT 1; SELECT 2;`,
  `outside-transaction: ${outside}-- Repeatable: it sets what was not set before\n${block(update)}`,
  `outside-transaction: ${outside}-- Repeatable: it sets what was not set before\n${block('DROP TABLE x; COMMIT;')}`,
  `repeatable: ${outside}CREATE INDEX CONCURRENTLY "i" ON "users"("name");`,
  `repeatable: ${outside}${block(`${update} COMMIT;`)}`,
  'unexplained: -- squawk-ignore ban-drop-column\nALTER TABLE "users" DROP COLUMN "name";',
  'ban-drop-column: -- Allow ban-drop-column: no\nALTER TABLE "users" DROP COLUMN "name";',
  'ban-drop-column: -- Allow ban-drop-column: nothing has read it since 0.1.0\nALTER TABLE "users" DROP COLUMN "a";\nALTER TABLE "users" DROP COLUMN "name";',
  'useless-exception: -- Allow ban-drop-column: nothing has read it since 0.1.0\nSELECT 1;',
].map((line) => line.split(/: (.*)/s, 2));

const harmless = [
  `CREATE TABLE "notes" ("id" SERIAL NOT NULL, "post_id" INTEGER NOT NULL, "text" VARCHAR(500) NOT NULL, CONSTRAINT "notes_pkey" PRIMARY KEY ("id"));
   CREATE INDEX "notes_post_id_idx" ON "notes"("post_id");
   ALTER TABLE "notes" ADD CONSTRAINT "f" FOREIGN KEY ("post_id") REFERENCES "posts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
   ALTER TABLE "notes" ADD CONSTRAINT "c" CHECK ("text" <> '');
   INSERT INTO "notes" ("post_id", "text") SELECT "id", '; DROP TABLE "users"' FROM "posts";`,
  'ALTER TABLE "users" ADD COLUMN "reason" VARCHAR(500), ADD COLUMN "count" INTEGER NOT NULL DEFAULT 0;',
  'ALTER TABLE "posts" ADD CONSTRAINT "c" CHECK ("title" <> \'\') NOT VALID;',
  'ALTER TABLE "posts" ADD CONSTRAINT "f" FOREIGN KEY ("store_id") REFERENCES "stores"("id") NOT VALID;',
  'ALTER TABLE "posts" VALIDATE CONSTRAINT "c";',
  `${outside}ALTER TABLE "posts" VALIDATE CONSTRAINT "c";`,
  `${outside}-- For the list of names.\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "i" ON "users"("name");`,
  `${outside}-- Repeatable: a row that is filled in is left out\n${block(`${update} COMMIT;`)}`,
  `CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE posts SET title = ''; DELETE FROM users; RETURN NULL; END $$;
   DROP TRIGGER "t" ON "posts"; CREATE TRIGGER "t" AFTER UPDATE ON "posts" FOR EACH STATEMENT EXECUTE FUNCTION f();`,
  "CREATE TYPE \"action\" AS ENUM ('none', 'hide');",
  'INSERT INTO "store_categories" ("name") VALUES (\'공방\');',
  '-- Allow ban-drop-column: nothing has read it since 0.1.0\nALTER TABLE "users" DROP COLUMN "name";',
];

t.test('dangerous statements are rejected by their rule, and sound ones pass', async (t) => {
  const statements = [...dangerous.map(([, sql = '']) => sql), ...harmless];
  const scripts = Object.fromEntries(statements.map((sql, index) => [`file_${index}`, sql]));
  const { folder } = await writeMigrations(t, scripts);
  const path = (index: number) => join(folder, `file_${index}`, 'migration.sql');
  const problems = await checkMigrations(statements.map((_, index) => path(index)));
  const found = (index: number) =>
    problems.filter((problem) => problem.startsWith(`${path(index)}:`)).join('\n');
  for (const [index, [rule = '', sql = '']] of dangerous.entries()) {
    t.match(found(index), new RegExp(`:\\d+ ${rule}: \\S`), `${rule}: ${sql}`);
  }
  for (const [index, sql] of harmless.entries()) t.equal(found(dangerous.length + index), '', sql);
});

t.test('a new migration is checked without being named, and comes after released ones', async (t) => {
  t.same(await checkFolder(), [], 'those of this release');
  const newest = `9${committed.at(-1)?.slice(1)}`;
  const { folder } = await writeMigrations(t, {
    [newest]: 'DROP TABLE users;',
    '20260101000000_early': 'CREATE TABLE notes (id int);',
  });
  const problems = await checkFolder(folder);
  t.match(problems.join('\n'), new RegExp(`${newest}/migration.sql:1 ban-drop-table`));
  // A shallow clone has no release to compare with.
  if (await findLastRelease())
    t.match(
      problems.join('\n'),
      /20260101000000_early must be named after 2\d{13}_\w+, the newest of the release \d/,
    );
});

/** Changes of schema.prisma: what is replaced, by what, and the SQL that no migration has then. */
const drifts: [text: string, replacement: string, sql: string][] = [
  ['\nmodel User {', '\nmodel User {\n  age Int?', 'ALTER TABLE "users" ADD COLUMN     "age" INTEGER;'],
  [
    '  @@map("users")',
    '  @@index([name])\n  @@map("users")',
    'CREATE INDEX "users_name_idx" ON "users"("name");',
  ],
  [' @default(ko)', ' @default(en)', `ALTER TABLE "users" ALTER COLUMN "language" SET DEFAULT 'en';`],
  [
    '  hasChosenLanguage Boolean     @default(false) @map("has_chosen_language")\n',
    '',
    'ALTER TABLE "users" DROP COLUMN "has_chosen_language";',
  ],
  ['  @@index([since])\n', '', 'DROP INDEX "daily_counts_since_idx";'],
];

t.test('a change of schema.prisma that no migration makes is found, with its SQL', async (t) => {
  const url = await createTestDatabase();
  t.same(await checkSchema(() => differenceSql(url)), [], 'the committed schema');
  const schema = await readSchema();
  for (const [text, replacement, sql] of drifts) {
    const changed = schema.replace(text, replacement);
    t.not(changed, schema, `schema.prisma has ${text.trim()}`);
    const problems = await checkSchema(() => differenceSql(url, changed));
    t.match(problems, [`\n${sql}\n`]);
    t.equal(problems[0]?.match(/;$/gm)?.length, 1, 'and nothing else');
  }
});

t.test('the migrations that are written for it pass the check', async (t) => {
  const url = await createTestDatabase();
  const changed = (await readSchema())
    .replace(
      '\nmodel User {',
      '\nmodel User {\n  notes Note[]\n  age Int?\n  @@index([name])\n  @@unique([age])',
    )
    .concat(`model Note {
      id     BigInt @id @default(autoincrement())
      userId Int
      user   User   @relation(fields: [userId], references: [id], onUpdate: NoAction)
      @@index([userId])
    }`);
  const written = toMigrations(await differenceSql(url, changed));
  t.match(written, [
    /^-- AlterTable[\s\S]*CREATE INDEX "Note_userId_idx"/,
    /^-- Outside a transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "users_name_idx" ON "users"\("name"\);\n$/,
    /^-- Outside a transaction\nCREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "users_age_key" ON "users"\("age"\);\n$/,
  ]);
  t.equal(written.length, 3);
  const { folder } = await writeMigrations(
    t,
    Object.fromEntries(written.map((sql, index) => [`${index}`, sql])),
  );
  t.same(await checkMigrations(written.map((_, index) => join(folder, `${index}`, 'migration.sql'))), []);
  t.same(toMigrations('-- DropIndex\nDROP INDEX "i";\n'), [
    '-- Outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS "i";\n',
  ]);
});
