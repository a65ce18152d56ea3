import { openChannel } from '../between-tabs.ts';

/** What tabs tell each other: an event, or the question of a new tab for what it should know. */
type Message<Event> = { event: Event } | 'hello';

interface TabsOptions<Event> {
  /** That the tabs have in common; without it, this tab leads. */
  name: string | undefined;
  /** Milliseconds in which a leader responds. A tab that the system has suspended does not, and keeps its lock. */
  responseTime: number;
  signal: AbortSignal;
  /** Takes an event, of whichever tab. */
  take(event: Event): void;
  /** What a new tab should know. */
  known(): Event[];
  /** Works until the signal and emits events to all tabs. */
  lead(signal: AbortSignal, emit: (event: Event) => void): Promise<void>;
}

/**
 * Works in one of all tabs: in the one that gets the Web Lock first, and in another one when that tab is closed or suspended.
 * Browsers without Web Locks, and pages without TLS, work in each tab.
 */
export function joinTabs<Event>(options: TabsOptions<Event>): void {
  const { name, responseTime, signal, take, known, lead } = options;
  const locks = globalThis.navigator?.locks;
  if (name === undefined || !locks || typeof BroadcastChannel !== 'function') {
    void lead(signal, take);
    return;
  }
  const channel = openChannel<Message<Event>>(name, (message) => {
    if (message !== 'hello') {
      hasAnswer = true;
      take(message.event);
    } else if (isLeader) for (const event of known()) channel.postMessage({ event });
  });
  let isLeader = false;
  let hasAnswer = false;
  let candidacy = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function emit(event: Event): void {
    if (!signal.aborted) channel.postMessage({ event });
    take(event);
  }

  /** Waits for the lock, or takes it from its holder. */
  function stand(lockName: string, isForced: boolean): void {
    candidacy.abort();
    const term = new AbortController();
    candidacy = term;
    const work = async () => {
      isLeader = true;
      await lead(term.signal, emit);
      isLeader = false;
    };
    locks.request(lockName, isForced ? { steal: true } : { signal: term.signal }, work).catch(() => {
      // The end of this candidacy, or another tab has taken the lock.
      isLeader = false;
      if (!term.signal.aborted) stand(lockName, false);
    });
  }

  /** Asks the leader for what it knows; one that does not respond is replaced. */
  function ask(lockName: string): void {
    if (isLeader) return;
    hasAnswer = false;
    channel.postMessage('hello');
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!hasAnswer && !isLeader && !isHidden()) stand(lockName, true);
    }, responseTime);
  }

  const onVisible = () => isHidden() || ask(name);
  globalThis.document?.addEventListener('visibilitychange', onVisible);
  signal.addEventListener('abort', () => {
    globalThis.document?.removeEventListener('visibilitychange', onVisible);
    clearTimeout(timer);
    candidacy.abort();
    channel.close();
  });
  stand(name, false);
  ask(name);
}

function isHidden(): boolean {
  return globalThis.document?.visibilityState === 'hidden';
}
