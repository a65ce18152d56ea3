import { pause, withJitter } from '../retries.ts';
import { pollNotifications } from './polling.ts';
import { openNotificationStream } from './stream.ts';
import type { SourceEvent, SourceOptions } from './types.ts';

/** A connection that lived so long begins again with the shortest wait, in milliseconds. */
const longLife = 30_000;

/** Streams, or polls where streams do not work, until the signal or the sign-out. */
export async function runSource(options: SourceOptions): Promise<void> {
  const { times, signal, transport } = options;
  let { lastId } = options;
  /** In place of `options.emit`, to remember the position. */
  function emit(event: SourceEvent): void {
    if (signal.aborted) return;
    if (event.type === 'notification') lastId = event.notification.id;
    if (event.type === 'position') lastId ??= event.id;
    options.emit(event);
  }

  let errors = 0;
  let delay = times.firstDelay;
  while (!signal.aborted) {
    const start = Date.now();
    let retryAfter = 0;
    if (transport === 'stream') {
      if (errors < times.errors) emit({ type: 'status', status: 'connecting' });
      const outcome = await openNotificationStream({ ...options, lastId, emit });
      if (outcome.ended === 'signed_out' || signal.aborted) return;
      errors = outcome.ended === 'after_events' ? 0 : errors + 1;
      retryAfter = (outcome.retryAfter ?? 0) * 1_000;
    }
    if (transport === 'poll' || errors >= times.errors) {
      // Where one poll works, the service may have come back just now: the next error in a row tells that streams do not work.
      const pollFor = errors === times.errors ? 0 : times.pollFor;
      if (await pollNotifications({ ...options, lastId, emit, pollFor })) continue;
      // The service is down, which says nothing about streams.
      errors = Math.min(errors, times.errors - 1);
    }
    delay = Date.now() - start > longLife ? times.firstDelay : delay;
    await pause(Math.max(withJitter(delay), retryAfter), signal);
    delay = Math.min(delay * 2, times.longestDelay);
  }
}
