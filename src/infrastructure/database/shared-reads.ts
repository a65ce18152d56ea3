import DataLoader from 'dataloader';

/**
 * Reads what requests of the same turn of the event loop ask for with one statement, because a round trip costs more than most reads.
 * Nothing is cached: each call reads the database after it.
 *
 * @param read finds the rows of different keys, which `keyOf` tells apart
 * @returns finds the row of a key
 */
export function readTogether<Key, Row>(
  read: (keys: Key[]) => Promise<Row[]>,
  keyOf: (row: Row, keys: Key[]) => Key | undefined,
  maxBatchSize = 100,
): (key: Key) => Promise<Row | undefined> {
  const loader = new DataLoader<Key, Row | undefined>(
    async (keys) => {
      const different = [...new Set(keys)];
      const rows = new Map((await read(different)).map((row) => [keyOf(row, different), row]));
      return keys.map((key) => rows.get(key));
    },
    { cache: false, batchScheduleFn: setImmediate, maxBatchSize },
  );
  return (key) => loader.load(key);
}

/** Work that runs once at a time for all callers. Its result is used for a second more, so that a flood of them costs no queries. */
export function onceASecond<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let latest: Promise<Value> | undefined;
  const forget = () => {
    latest = undefined;
  };
  return () => {
    latest ??= work().finally(() => setTimeout(forget, 1_000).unref());
    return latest;
  };
}
