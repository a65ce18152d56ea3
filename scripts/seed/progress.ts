import process from 'node:process';

const secondsBetweenLines = 5;

/**
 * Does work in batches and prints every few seconds how far it is.
 *
 * @param total rows to write
 * @param write writes the next rows; returns how many, at least one
 */
export async function inBatches(
  label: string,
  total: number,
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

/** Does work that has no batches and prints how long it took; meanwhile, every few seconds, what `progress` reads. */
export async function timed(
  label: string,
  work: () => Promise<unknown>,
  progress: () => Promise<string>,
): Promise<void> {
  const began = performance.now();
  const seconds = () => `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  const timer = setInterval(async () => {
    print(`${label}: ${await progress().catch(String)}, ${seconds()}`);
  }, secondsBetweenLines * 1_000);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  print(`${label}: ${seconds()}`);
}

function count(rows: number): string {
  return rows.toLocaleString('en');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
