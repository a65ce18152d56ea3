import { availableParallelism } from 'node:os';
import process from 'node:process';
import argon2 from 'argon2';

/*
 * Checks a password as often as the machine can, with as many hashes at once as there are cores: the limit of logins. The parent
 * process sends the seconds, and gets the milliseconds of each check.
 */

const password = 'gimbap-and-coffee-7';
const hash = await argon2.hash(password, {
  type: argon2.argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
});

process.on('message', async (seconds: number) => {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      while (performance.now() < end) {
        const started = performance.now();
        await argon2.verify(hash, password);
        times.push(performance.now() - started);
      }
    }),
  );
  process.send?.(times);
});
process.send?.('ready');
