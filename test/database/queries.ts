import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { format } from 'sql-formatter';
import type { Test } from 'tap';
import { root } from '../support/files.ts';
import type { compareRowTypes } from './declared-rows.ts';
import type { Measure } from './measure.ts';

type RowTypes = Pick<ReturnType<typeof compareRowTypes>, 'functions' | 'declarations'>;

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
function describe(columns: string[], { pages, partitions, updated }: Measure, known: number): string {
  // A first execution on a connection plans, which reads a page of each index.
  const atMost = pages <= known ? known : 2 ** Math.ceil(Math.log2(Math.max(64, 1.5 * pages)));
  const hot = [...updated].filter(([, changesIndex]) => !changesIndex).map(([table]) => table);
  return [
    columns.length > 0 ? `-- Columns: ${columns.sort().join(', ')}\n` : '',
    `-- Pages: at most ${atMost}\n`,
    ...[...partitions].map(
      ([table, count]) => `-- Partitions of ${table}: ${count === 1 ? 'one' : 'several'}\n`,
    ),
    hot.length > 0 ? `-- Changes no index: ${hot.sort().join(', ')}\n` : '',
  ].join('');
}

/** Compares the statements that ran with the files, or writes them, with `UPDATE_QUERIES`. */
export async function compareQueries(
  t: Test,
  { functions, declarations }: RowTypes,
  places: Map<string, string>,
  measures: Map<string, Measure>,
): Promise<void> {
  const ofDomain = new Map<string, Map<string, Measure & { place: string }>>();
  for (const [text, place] of places) {
    const [, domain] = /^src\/domains\/([\w-]+)\//.exec(place) ?? [];
    const measure = measures.get(text);
    if (domain === undefined || measure === undefined) continue;
    const statement = `${format(withoutNumber(text), { language: 'postgresql', expressionWidth: 100 })};\n`;
    const statements = ofDomain.get(domain) ?? new Map();
    ofDomain.set(domain, statements.set(statement, { place, ...merge(measure, statements.get(statement)) }));
  }
  for (const [domain, statements] of ofDomain) {
    const file = join(root, `prisma/queries/${domain}.sql`);
    const written = await readFile(file, 'utf8').catch(() => '');
    const budgets = new Map(
      [...written.matchAll(/^-- Pages: at most (\d+)\n(?:--.*\n)*((?:(?!--).*\n)+?)(?=\n--|$)/gm)].map(
        ([, pages, statement = '']) => [statement, Number(pages)],
      ),
    );
    const queries = [...statements].map(([statement, { place, ...measure }]) => {
      const path = place.replace(/^src\/domains\/[\w-]+\/(.+)\.ts:.*/, '$1');
      return `-- ${path}: ${functions.get(place)}\n${describe([...(declarations.get(place)?.keys() ?? [])], measure, budgets.get(statement) ?? 0)}${statement}`;
    });
    const content = queries.sort().join('\n');
    if (process.env['UPDATE_QUERIES']) await writeFile(file, content);
    t.equal(content, written, `${domain}: update it with UPDATE_QUERIES=1`);
  }
}
