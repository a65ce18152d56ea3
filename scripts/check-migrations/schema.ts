import { missingMigration } from '../schema-difference.ts';

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
