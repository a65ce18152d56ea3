import Fastify from 'fastify';
import { openDatabase } from '../../src/database/client.ts';
import { createMailQueue } from '../../src/mail/queue.ts';
import { startWorker } from '../../src/mail/worker.ts';

/**
 * A process of its own, to be killed: queues a mail and prints "committed"; with the argument "worker" it also runs a
 * worker whose provider never answers, and prints the idempotency key that it sends with.
 */
const [url = '', mode] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const database = openDatabase({ url, poolSize: 2, pooled: false, onError: () => undefined });
await database.transaction((transaction) => createMailQueue().add(transaction, 'code', { id: 1 }));
say('committed');
setInterval(() => undefined, 60_000);
if (mode === 'worker') {
  await startWorker({
    connectionString: url,
    database,
    logger: Fastify().log,
    composers: {
      code: async () => ({
        to: 'mina@example.com',
        language: 'en',
        mail: { kind: 'verification_code', code: '123456', minutes: 10 },
      }),
    },
    transport: {
      send: ({ idempotencyKey }) => {
        say(idempotencyKey);
        return new Promise(() => undefined);
      },
    },
  });
}
