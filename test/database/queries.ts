import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { format } from 'sql-formatter';
import type { Test } from 'tap';
import { root } from '../support/files.ts';
import { type Measure, nameOf } from './measure.ts';

/** The text of a statement as `prisma/queries` has it: without the number of a partition. */
const withoutNumber = (text: string) => text.replace(/\bnotifications_\d+/g, 'notifications_0');

/** Adds what two texts of one statement did. */
function merge(one: Measure, other: Measure | undefined): Measure {
  if (other === undefined) return one;
  for (const [table, changed] of other.updated)
    one.updated.set(table, changed || one.updated.get(table) === true);
  const partitions = [...one.partitions, ...other.partitions];
  return { ...one, pages: Math.max(one.pages, other.pages), partitions: new Map(partitions) };
}

/** The lines above a statement: what it returns, and what it may touch. */
function describe({ fields, pages, partitions, updated }: Measure, types: Types, known: number): string {
  // A first execution on a connection plans, which reads a page of each index.
  const atMost = pages <= known ? known : 2 ** Math.ceil(Math.log2(Math.max(64, 1.5 * pages)));
  const hot = [...updated].filter(([, changesIndex]) => !changesIndex).map(([table]) => table);
  const columns = fields.map(({ name, dataTypeID }) => `${name} ${types.get(dataTypeID)}`);
  return [
    columns.length > 0 ? `-- Returns: ${columns.join(', ')}\n` : '',
    `-- Pages: at most ${atMost}\n`,
    ...[...partitions].map(
      ([table, count]) => `-- Partitions of ${table}: ${count === 1 ? 'one' : 'several'}\n`,
    ),
    hot.length > 0 ? `-- Changes no index: ${hot.sort().join(', ')}\n` : '',
  ].join('');
}

/** The names of types by their oid. */
export type Types = Map<number, string>;

/** Compares the statements of the domains with the files, or writes them, with `UPDATE_QUERIES`. */
export async function compareQueries(t: Test, measures: Map<string, Measure>, types: Types): Promise<void> {
  for (const domain of readdirSync(join(root, 'src/domains'))) {
    const statements = new Map<string, Measure>();
    for (const [text, measure] of measures) {
      if (!nameOf(text)?.startsWith(`${domain}.`)) continue;
      const statement = `${format(withoutNumber(text), { language: 'postgresql', expressionWidth: 100 })};\n`;
      statements.set(statement, merge(measure, statements.get(statement)));
    }
    if (statements.size === 0) continue;
    const file = join(root, `prisma/queries/${domain}.sql`);
    const written = await readFile(file, 'utf8').catch(() => '');
    const budgets = new Map(
      [...written.matchAll(/^-- Pages: at most (\d+)\n(?:--.*\n)*((?:(?!--).*\n)+?)(?=\n--|$)/gm)].map(
        ([, pages, statement = '']) => [statement, Number(pages)],
      ),
    );
    const content = [...statements]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([statement, measure]) => `${describe(measure, types, budgets.get(statement) ?? 0)}${statement}`)
      .join('\n');
    if (process.env['UPDATE_QUERIES']) await writeFile(file, content);
    t.equal(content, written, `${domain}: UPDATE_QUERIES=1 writes it; then run it without`);
  }
}
