import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from './contract.ts';

/** What no call of a fast test can get. */
const exceptions: { reason: string; pattern: RegExp }[] = [
  {
    reason: 'they ask nothing that could be broken',
    pattern: /^(?:listLoginProviders|listConsents|showUnsubscribePage) 50[03] /,
  },
  {
    reason: 'large files and connections that stop are slow: test/system/images',
    pattern:
      /^uploadImage (?:400 invalid_image|408 request_timeout|413 payload_too_large|429 quota_exceeded)$/,
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
  const errorCodes = contract.document.components.schemas['ErrorCode']?.['enum'];
  const isCode = (name: string) => Array.isArray(errorCodes) && errorCodes.includes(name);
  return contract.operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      // `default` is for errors that any path may have.
      .filter(([status]) => status !== 'default')
      .flatMap(([status, { content }]) => {
        // There is an example for each code.
        const codes = Object.keys(content?.['application/json']?.examples ?? {}).filter(isCode);
        return (codes.length > 0 ? codes : ['ok']).map((code) => `${operationId} ${status} ${code}`);
      }),
  );
}
