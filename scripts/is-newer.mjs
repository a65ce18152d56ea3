import { statSync } from 'node:fs';

/** Whether a file exists and was written after others, from which it is made. */
export function isNewer(path, sources) {
  const timeOf = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.every((source) => timeOf(path) > timeOf(source));
}
