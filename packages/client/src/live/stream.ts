import { streamNotifications } from '../generated/operations.ts';
import { retryAfterOf } from '../responses.ts';
import { createEventParser, type StreamEvent } from './event-parser.ts';
import type { Notification, SourceOptions } from './types.ts';

/** How a stream came to its end. */
interface StreamEnd {
  ended: 'signed_out' | 'after_events' | 'without_events';
  /** Seconds that the server asked to wait. */
  retryAfter?: number | undefined;
}

/** Opens one stream and passes its events on until it ends, by whatever cause. */
export async function openNotificationStream(options: SourceOptions): Promise<StreamEnd> {
  const { caller, userId, times, signal, emit } = options;
  const ending = new AbortController();
  const abort = () => ending.abort();
  signal.addEventListener('abort', abort);
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let hasEvents = false;
  let lastId = options.lastId;

  function onEvent(event: StreamEvent): void {
    if (!hasEvents) emit({ type: 'status', status: 'open' });
    hasEvents = true;
    if (event.event === 'notification') {
      const notification: Notification = JSON.parse(event.data);
      emit({ type: 'notification', notification, after: lastId });
      lastId = notification.id;
      return;
    }
    // The first event says where the stream begins.
    if (event.id !== undefined) {
      lastId ??= Number(event.id);
      emit({ type: 'position', id: lastId });
    }
    if (event.event !== 'unread_count') return;
    const { unread_count }: { unread_count: number } = JSON.parse(event.data);
    emit({ type: 'unread_count', unread_count });
  }

  function connect(access: string): Promise<Response> {
    clearTimeout(watchdog);
    watchdog = setTimeout(abort, times.firstEvent);
    return caller.open(
      streamNotifications.path,
      {
        Accept: 'text/event-stream',
        Authorization: `Bearer ${access}`,
        ...(lastId !== undefined && { 'Last-Event-ID': String(lastId) }),
      },
      ending.signal,
    );
  }

  try {
    const tokens = await caller.session.usable();
    if (tokens?.user_id !== userId) return { ended: 'signed_out' };
    let response = await connect(tokens.access);
    if (response.status === 401) {
      await response.body?.cancel();
      const renewed = await caller.session.renew(tokens);
      if (renewed?.user_id !== userId) return { ended: 'signed_out' };
      response = await connect(renewed.access);
    }
    if (!isEventStream(response)) {
      await response.body?.cancel();
      return { ended: 'without_events', retryAfter: retryAfterOf(response.headers) };
    }
    await read(response, ending.signal, createEventParser(onEvent), () => {
      if (!hasEvents) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(abort, times.silence);
    });
  } catch {
    // No network, a connection that broke, a stream that was silent, or no response to a refresh.
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', abort);
    // Cancels what was not read.
    ending.abort();
  }
  return { ended: hasEvents ? 'after_events' : 'without_events' };
}

function isEventStream({ ok, headers }: Response): boolean {
  return ok && (headers.get('content-type') ?? '').startsWith('text/event-stream');
}

/** Not every browser can iterate over a body, and not every `fetch` ends a body with the signal. */
async function read(
  { body }: Response,
  signal: AbortSignal,
  parse: (text: string) => void,
  onBytes: () => void,
): Promise<void> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  signal.addEventListener('abort', () => void reader?.cancel().catch(() => undefined));
  for (;;) {
    const chunk = await reader?.read();
    if (!chunk || chunk.done) return;
    parse(decoder.decode(chunk.value, { stream: true }));
    onBytes();
  }
}
