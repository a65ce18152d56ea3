import Fastify from 'fastify';
import { openDatabase } from '../../../src/infrastructure/database/client.ts';
import { createQueue, hang, startMailWorker } from '../../mail/worker-setup.ts';
import { timeFactor } from '../../support/time.ts';

/**
 * A process to be killed: enqueues an email and prints "committed". With the argument "worker" it also runs a worker whose
 * provider does not respond, and prints the idempotency key of the email.
 */
const [url = '', mode] = process.argv.slice(2);
const print = (line: string) => process.stdout.write(`${line}\n`);

const database = openDatabase({ url, poolSize: 2, limitFactor: timeFactor });
const { log } = Fastify();
const { outbox, queue } = createQueue(database, log);
await database.transaction((tx) => queue.add(tx, 'code', { id: 1 }));
print('committed');
const forever = 2 ** 31 - 1;
setInterval(() => undefined, forever);
if (mode === 'worker') {
  outbox.start();
  startMailWorker({
    connectionString: url,
    database,
    logger: log,
    transport: {
      send({ idempotencyKey }) {
        print(idempotencyKey);
        return hang();
      },
    },
  });
}
