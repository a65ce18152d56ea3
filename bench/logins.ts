import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from '../test/support/service.ts';
import { password } from './data.ts';
import { withService } from './servers.ts';

/*
 * npm run bench -- logins
 *
 * Logins of some users, each from an address of its own, while one account sends change-password with the right password in
 * parallel, over and over. Limits are on.
 */

const parallel = 290;
const rounds = 2;

await withService({ RATE_LIMIT_ENABLED: 'true', TRUST_PROXY: '127.0.0.1' }, async ({ url }, all) => {
  const [intruder, ...users] = all.slice(0, 41);

  /** Sends a request from an address of the user. @returns how it was answered */
  async function send(path: string, body: object, index: number, access = ''): Promise<string> {
    const headers = { 'x-forwarded-for': `198.51.100.${index + 1}`, authorization: `Bearer ${access}` };
    const { status, text } = await post(`${url}/auth/${path}/`, body, headers);
    return status === 200 ? '200' : `${status} ${JSON.parse(text).data.code}`;
  }

  const change = { current_password: password, new_password: password };
  const changes = Array.from({ length: parallel }, async () => {
    const responses: string[] = [];
    for (let round = 0; round < rounds; round++)
      responses.push(await send('change-password', change, users.length, intruder?.access));
    return responses;
  });
  const logins = users.map(async ({ username }, index) => {
    await sleep(50 * (index + 1));
    return send('login', { username, password }, index);
  });
  process.stdout.write(`logins of others  ${tally(await Promise.all(logins))}\n`);
  process.stdout.write(`change-password   ${tally((await Promise.all(changes)).flat())}\n`);
});

function tally(responses: string[]): string {
  const counts: Record<string, number> = {};
  for (const response of responses) counts[response] = (counts[response] ?? 0) + 1;
  return JSON.stringify(counts);
}
