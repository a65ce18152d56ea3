import { AsyncLocalStorage } from 'node:async_hooks';
import t from 'tap';
import type { Tx } from '../../src/infrastructure/database/client.ts';
import { sql } from '../../src/infrastructure/database/sql.ts';
import { gate, inParallel } from '../support/concurrency.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';

const database = openTestDatabase(t, await createTestDatabase(), 4);
const add = (tx: Tx, name: string) => tx.execute(sql`INSERT INTO store_categories (name) VALUES (${name})`);
const find = (tx: Tx, name: string) => tx.prisma.storeCategory.findFirst({ where: { name } });
const passes = async () => undefined;

/** `arrive` waits until it was called `count` times. */
function barrier(count: number) {
  const { open, opened: all } = gate();
  let arrived = 0;
  async function arrive() {
    arrived += 1;
    if (arrived === count) open();
    await all;
  }
  return { all, arrive };
}

t.test("Prisma's client and SQL run in one transaction, which is rolled back as one", async (t) => {
  const rolledBack = database.transaction(async (tx) => {
    await add(tx, 'by SQL');
    t.match(await find(tx, 'by SQL'), { name: 'by SQL' });
    await tx.prisma.storeCategory.create({ data: { name: 'by Prisma' } });
    const statement = sql`SELECT count(*) AS count FROM store_categories WHERE name LIKE 'by %'`;
    t.strictSame(await tx.query(statement), [{ count: 2 }]);
    throw new Error('no commit');
  });
  await t.rejects(rolledBack, { message: 'no commit' });
  // Also what is awaited by `transaction`, because Prisma starts a call then.
  const isAfterBegin = sql`SELECT statement_timestamp() > now() AS is`;
  const read = await database.transaction((tx) => tx.prisma.$queryRaw(isAfterBegin));
  t.strictSame(read, [{ is: true }]);
  t.equal(await find(database, 'by SQL'), null);
  t.equal(await find(database, 'by Prisma'), null);
});

t.test('transactions see their own rows only, with calls of Prisma at the same moment', async (t) => {
  const names = ['first', 'second', 'third'];
  const [added, looked] = [barrier(names.length), barrier(names.length)];
  const outside = added.all.then(() => Promise.all(names.map((name) => find(database, name))));
  const found = await inParallel(names.length, (index) =>
    database.transaction(async (tx) => {
      await add(tx, names[index] ?? '');
      await added.arrive();
      const rows = [];
      for (const name of names) rows.push(await find(tx, name));
      // No commit before all have looked.
      await Promise.all([looked.arrive(), outside]);
      return rows.map((row) => row?.name);
    }),
  );
  const expected = names.map((own) => names.map((name) => (name === own ? name : undefined)));
  t.strictSame(found, expected);
  t.strictSame(await outside, [null, null, null]);
});

t.test('a mistake with a transaction is an error that says what is wrong', async (t) => {
  const inTransaction = { message: /runs in a transaction: use its tx/ };
  await database.transaction(async () => {
    await t.rejects(database.transaction(passes), inTransaction, 'nested');
    await t.rejects(database.query(sql`SELECT 1`), inTransaction, 'outside of it');
    await t.rejects(database.prisma.$transaction(passes), inTransaction, "Prisma's own");
  });
  let forgotten: Tx | undefined;
  let late: (() => Promise<unknown>) | undefined;
  await database.transaction(async (tx) => {
    forgotten = tx;
    late = AsyncLocalStorage.bind(async () => await find(tx, 'late'));
  });
  const ended = { message: /the transaction has ended: await every statement/ };
  await t.rejects(forgotten?.query(sql`SELECT 1`) ?? passes(), ended);
  await t.rejects(late?.() ?? passes(), ended);
  await t.rejects(async () => Reflect.apply(database.prisma.user.findUnique, undefined, []), /use findFirst/);
});
