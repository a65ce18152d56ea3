/**
 * Runs work one after the other: in this client, and with Web Locks in all tabs that use the same name.
 *
 * @param work learns whether another tab had the lock
 */
type Mutex = <Result>(work: (hasWaited: boolean) => Promise<Result>) => Promise<Result>;

/** @param name of the lock in all tabs; without it, or without Web Locks, only this client waits */
export function createMutex(name: string | undefined): Mutex {
  const locks = name === undefined ? undefined : globalThis.navigator?.locks;
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const run = () => (locks && name !== undefined ? lock(locks, name, work) : work(false));
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
}

/** The types of `LockManager` lose that of the result. */
async function lock<Result>(
  locks: LockManager,
  name: string,
  work: (hasWaited: boolean) => Promise<Result>,
): Promise<Result> {
  const results: { value: Result }[] = [];
  await locks.request(name, { ifAvailable: true }, async (granted) => {
    if (granted) results.push({ value: await work(false) });
  });
  if (results.length === 0) {
    await locks.request(name, async () => {
      results.push({ value: await work(true) });
    });
  }
  const [result] = results;
  if (!result) throw new Error('The lock was not granted');
  return result.value;
}
