import process from 'node:process';
import { parseArgs } from 'node:util';
import { runScript, withMigratedDatabase } from './open-database.ts';
import { seedDatabase } from './seed/database.ts';
import { seedPassword } from './seed/stores.ts';

/*
 * npm run seed -- --users 100000 --posts 1000000 --notifications 10000000
 *
 * Fills the database by bulk SQL, to try the service at size. Users are `seed_1`, `seed_2`, ..., each with a store; `seed_1`
 * owns a tenth of all posts, requests and notifications. Running it again adds more. An interrupted run leaves all indexes,
 * and of its rows users without posts, or users and posts without requests.
 */

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      users: { type: 'string', default: '1000' },
      posts: { type: 'string', default: '5000' },
      notifications: { type: 'string', default: '20000' },
    },
  });
  const counts = {
    users: Number(values.users),
    posts: Number(values.posts),
    notifications: Number(values.notifications),
  };
  if (Object.values(counts).some((count) => !Number.isSafeInteger(count) || count < 1) || counts.users < 2) {
    throw new Error(
      'usage: npm run seed -- --users N --posts N --notifications N (numbers, at least 2 users)',
    );
  }
  const print = (line: string) => process.stdout.write(`${line}\n`);
  await withMigratedDatabase(({ database }) => seedDatabase(database.directUrl, counts, print));
  print(`log in as seed_1 with the password ${seedPassword}`);
});
