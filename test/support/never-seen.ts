import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from './contract.ts';

/** What no call of a fast test can get. */
const exceptions: { reason: string; pattern: RegExp }[] = [
  {
    reason: 'large files and connections that stop are slow: test/system/images',
    pattern:
      /^uploadImage (?:400 invalid_image|408 request_timeout|413 payload_too_large|429 quota_exceeded)$/,
  },
  {
    reason: 'it is rejected before its operation is known: test/system/http/raw-protocol.test.ts',
    pattern: / 400 malformed_request$/,
  },
  {
    reason: 'it does not end, so that it is read from a socket: test/notifications/stream.test.ts',
    pattern: /^streamNotifications 200 /,
  },
];

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
  return contract.operations.flatMap((operation) =>
    Object.keys(operation.responses)
      // `default` is for errors that any operation may have.
      .filter((status) => status !== 'default')
      .flatMap((status) => {
        const codes = Number(status) < 400 ? ['ok'] : contract.codesOf(operation, status);
        return codes.map((code) => `${operation.operationId} ${status} ${code}`);
      }),
  );
}
