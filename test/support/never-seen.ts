import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from './contract.ts';

/** What the fast tests cannot provoke. */
const exceptions: { reason: string; pattern: RegExp }[] = [];

/**
 * What the document promises and no call of a test got.
 *
 * @param folder in which the processes of the tests wrote what they saw, as `DURE_TEST_SEEN` tells them
 * @returns lines such as `logIn 401 invalid_credentials`
 */
export function neverSeen(folder: string): string[] {
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const seen = new Set(texts.flatMap((text) => text.split('\n')));
  return promises().filter(
    (promise) => !seen.has(promise) && !exceptions.some(({ pattern }) => pattern.test(promise)),
  );
}

/** Every status of every operation, each with every code that it may have. */
function promises(): string[] {
  return contract.operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) => {
      // Errors have an example for each code.
      const codes = Object.keys(content?.['application/json']?.examples ?? {});
      return (Number(status) < 400 ? ['ok'] : codes).map((code) => `${operationId} ${status} ${code}`);
    }),
  );
}
