import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version of the service, from `package.json`. */
export function readVersion(): string {
  const file = fileURLToPath(import.meta.resolve('#package/package.json'));
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return version;
}
