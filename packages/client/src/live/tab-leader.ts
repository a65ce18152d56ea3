/**
 * Runs work in one of all tabs: in the one that gets the Web Lock first, and in another one when that tab is closed. Browsers
 * without Web Locks, and pages without TLS, run it in each tab.
 *
 * @param name that the tabs have in common; without it, this tab leads
 * @param lead works until the signal
 */
export function electLeader(name: string | undefined, lead: () => Promise<void>, signal: AbortSignal): void {
  const locks = name === undefined ? undefined : globalThis.navigator?.locks;
  const leading = locks && name !== undefined ? locks.request(name, { signal }, lead) : lead();
  // Without the lock, the request is rejected when the signal ends the wait for it.
  leading.catch(() => undefined);
}

/** Whether tabs can have work in common. */
export function hasTabs(): boolean {
  return globalThis.navigator?.locks !== undefined && typeof BroadcastChannel === 'function';
}

/** Messages between tabs. */
export interface TabChannel<Message> {
  post(message: Message): void;
  close(): void;
}

export function openTabChannel<Message>(
  name: string,
  onMessage: (message: Message) => void,
): TabChannel<Message> {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }: MessageEvent<Message>) => onMessage(data);
  // In Node.js, a channel keeps the process alive.
  if ('unref' in channel && typeof channel.unref === 'function') channel.unref();
  return { post: (message) => channel.postMessage(message), close: () => channel.close() };
}
