import { readFileSync } from 'node:fs';
import process from 'node:process';

/** Milliseconds that {@link knownWork} takes on a quiet machine with two cores. */
const knownTime = 60;
/** How many times slower than quiet a machine is that is busy with other things. */
const load = 5;

/**
 * How many times longer than on a quiet machine a test may take: `DURE_TEST_TIME_FACTOR`, else measured. `npm test` measures once for
 * all its processes. It only makes upper bounds longer, so that a test that passes is not slower.
 */
export const timeFactor = Number(process.env['DURE_TEST_TIME_FACTOR']) || measure();

/** Milliseconds between two tries of what is repeated. */
export const pause = 50;

/** The upper bound of what takes some milliseconds on a quiet machine: for waits that end when something fails. */
export function atMost(milliseconds: number): number {
  return Math.ceil(milliseconds * timeFactor);
}

function measure(): number {
  const startedAt = performance.now();
  knownWork();
  return load * Math.max(1, (performance.now() - startedAt) / knownTime);
}

function knownWork(): string {
  let text = '';
  for (let round = 0; round < 20_000; round++) text = JSON.stringify({ round, text: text.slice(0, 1_000) });
  return text;
}

/** Seconds of CPU of this process and those that it started and that have ended; without `/proc` of this process alone. */
export function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // utime, stime, cutime and cstime of proc(5), in hundredths of a second; the name in parentheses may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
