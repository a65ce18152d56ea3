import Fastify from 'fastify';
import { openDatabase } from '../../../src/infrastructure/database/client.ts';
import { createQueue, hang, startMailWorker } from '../../mail/worker-setup.ts';
import { timeFactor } from '../../support/time.ts';

/** A worker to be killed: enqueues an email, and prints its idempotency key when it sends it to a provider that does not respond. */
const [url = ''] = process.argv.slice(2);

const database = openDatabase({ url, poolSize: 2, limitFactor: timeFactor });
const { log } = Fastify();
const { outbox, queue } = createQueue(database, log);
outbox.start();
startMailWorker({
  connectionString: url,
  database,
  logger: log,
  transport: {
    send({ idempotencyKey }) {
      process.stdout.write(`${idempotencyKey}\n`);
      return hang();
    },
  },
});
await database.transaction((tx) => queue.add(tx, 'code', { id: 1 }));
