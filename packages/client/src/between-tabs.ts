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

function lock<Result>(
  locks: LockManager,
  name: string,
  work: (hasWaited: boolean) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    // The types of `LockManager` lose that of the result.
    const run = (hasWaited: boolean) => work(hasWaited).then(resolve, reject);
    const wait = () => locks.request(name, () => run(true));
    locks.request(name, { ifAvailable: true }, (granted) => (granted ? run(false) : wait())).catch(reject);
  });
}

export function openChannel<Data>(name: string, onMessage: (data: Data) => void): BroadcastChannel {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }: MessageEvent<Data>) => onMessage(data);
  // In Node.js, a channel keeps the process alive.
  if ('unref' in channel && typeof channel.unref === 'function') channel.unref();
  return channel;
}

/**
 * Follows a page into the back/forward cache and back. The cache drops a page with a lock or a connection, or to which a channel
 * sends something.
 *
 * @returns ends that
 */
export function followPage(onShow: () => void, onHide: () => void): () => void {
  globalThis.addEventListener?.('pageshow', onShow);
  globalThis.addEventListener?.('pagehide', onHide);
  return () => {
    globalThis.removeEventListener?.('pageshow', onShow);
    globalThis.removeEventListener?.('pagehide', onHide);
  };
}

/** Passes values on to all other tabs that use the same name, but for pages in the back/forward cache. @returns sends a value */
export function shareBetweenTabs<Data>(
  name: string | undefined,
  onMessage: (data: Data) => void,
): (data: Data) => void {
  let channel: BroadcastChannel | undefined;
  if (name !== undefined && typeof BroadcastChannel === 'function') {
    const open = () => {
      channel ??= openChannel(name, onMessage);
    };
    open();
    followPage(open, () => {
      channel?.close();
      channel = undefined;
    });
  }
  return (data) => channel?.postMessage(data);
}
