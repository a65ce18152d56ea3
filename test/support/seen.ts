import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Every operation, status and code that a call of this process got, as `logIn 401 invalid_credentials` or `logIn 200 ok`. */
const seen = new Set<string>();

/** Each process of the tests writes here what it saw, when it ends. */
const folder = process.env['DURE_TEST_SEEN'];
if (folder !== undefined) {
  process.on('exit', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.pid}.txt`), [...seen].join('\n'));
  });
}

/** Records a response of a documented operation, by default one without a code. */
export function recordSeen(operationId: string, status: number, code = 'ok'): void {
  seen.add(`${operationId} ${status} ${code}`);
}
