import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedServer } from '../src/embedded-postgres/server.ts';
import { startService } from '../test/support/service.ts';

/*
 * npm run bench -- logins
 *
 * Logins of some users, each from an address of its own, while one account sends change-password with the right password in
 * parallel, over and over. Limits are on.
 */

const parallel = 290;
const rounds = 2;
const users = 40;
const password = 'gimbap-and-coffee-7';

/** Sends one request from a client's address. */
async function post(url: string, address: string, path: string, body: object, token?: string) {
  const response = await fetch(`${url}/auth/${path}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': address,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const { data } = JSON.parse(await response.text());
  return { kind: response.ok ? '200' : `${response.status} ${data.code}`, data };
}

function tally(answers: { kind: string }[]): string {
  const counts: Record<string, number> = {};
  for (const { kind } of answers) counts[kind] = (counts[kind] ?? 0) + 1;
  return JSON.stringify(counts);
}

async function measure(url: string) {
  const addressOf = (index: number) => `198.51.100.${index + 1}`;
  for (let index = 0; index <= users; index++) {
    const account = { username: `user${index}`, email: `user${index}@example.com`, name: '김두레', password };
    await post(url, addressOf(index), 'signup', account);
  }
  const logIn = (index: number) =>
    post(url, addressOf(index), 'login', { username: `user${index}`, password });
  const { access } = (await logIn(users)).data;
  const change = { current_password: password, new_password: password };
  const changes = Array.from({ length: parallel }, async () => {
    const answers = [];
    for (let round = 0; round < rounds; round++) {
      answers.push(await post(url, addressOf(users), 'change-password', change, access));
    }
    return answers;
  });
  const logins = await Promise.all(
    Array.from({ length: users }, (_, index) => sleep(50 * (index + 1)).then(() => logIn(index))),
  );
  return { logins: tally(logins), changes: tally((await Promise.all(changes)).flat()) };
}

const directory = await mkdtemp(join(tmpdir(), 'dure-logins-'));
const postgres = await startEmbeddedServer({ directory });
try {
  const service = await startService(
    {
      DATABASE_URL: postgres.url,
      TRUST_PROXY: '127.0.0.1',
      ARGON2_MEMORY_KIB: '19456',
      WORKER_ENABLED: 'false',
    },
    ['dist/server.js'],
  );
  try {
    const { logins, changes } = await measure(service.url);
    process.stdout.write(`logins of others  ${logins}\n`);
    process.stdout.write(`change-password   ${changes}\n`);
  } finally {
    await service.end();
  }
} finally {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
