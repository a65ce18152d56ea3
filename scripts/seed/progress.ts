import type pg from 'pg';

/** What every step of a run needs. */
export interface SeedRun {
  client: pg.Client;
  /** Another connection, which reads how far a statement of `client` is. */
  observer: pg.Client;
  print(line: string): void;
}

const secondsBetweenLines = 5;

/**
 * Does work in batches and prints every few seconds how far it is.
 *
 * @param total rows to write
 * @param write writes the next rows; returns how many, at least one
 */
export async function inBatches(
  { print }: SeedRun,
  { label, total }: { label: string; total: number },
  write: (done: number) => Promise<number>,
): Promise<void> {
  const began = performance.now();
  let printed = began;
  for (let done = 0; done < total; ) {
    done += await write(done);
    const now = performance.now();
    if (done < total && now - printed < secondsBetweenLines * 1_000) continue;
    printed = now;
    const seconds = (now - began) / 1_000;
    const rate = done / seconds;
    const left = done < total ? `${Math.ceil((total - done) / rate)} s left` : `${seconds.toFixed(1)} s`;
    print(`${label}: ${count(done)} of ${count(total)}, ${count(Math.round(rate))}/s, ${left}`);
  }
}

/**
 * Executes one long statement and prints how long it took, and every few seconds how far it is.
 *
 * @param progress SQL of a row with the text `progress` while the statement is in a phase that PostgreSQL reports
 */
export async function executeLong(
  { client, observer, print }: SeedRun,
  { label, statement, progress }: Record<'label' | 'statement' | 'progress', string>,
): Promise<void> {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  const timer = setInterval(async () => {
    const { rows } = await observer.query<{ progress: string }>(progress);
    print(`${label}: ${rows[0]?.progress ?? 'running'}, ${seconds()}`);
  }, secondsBetweenLines * 1_000);
  try {
    await client.query(statement);
  } finally {
    clearInterval(timer);
  }
  print(`${label}: ${seconds()}`);
}

function count(rows: number): string {
  return rows.toLocaleString('en');
}
