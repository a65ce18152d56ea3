import type { Notification, StreamStatus } from '@dure/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { invalidate, type Touches, touchedByNotification, touchesAll } from './invalidation.ts';
import { useDureContext } from './provider.tsx';

interface LiveOptions {
  /** Called for each notification that arrives, for example to show a toast. */
  onNotification?: (notification: Notification) => void;
}

interface LiveState {
  unreadCount: number;
  /** How notifications arrive. */
  status: StreamStatus;
}

const closed: LiveState = { unreadCount: 0, status: 'closed' };

/** In milliseconds. Many notifications may arrive at once, such as after a device was asleep: the page is read again once. */
const delay = 100;

/**
 * Subscribes while the user is signed in. What a notification touches is read again, and everything after an outage, in which
 * none arrived. Call it in one component that is always there, such as the layout.
 */
export function useLiveNotifications({ onNotification }: LiveOptions = {}): LiveState {
  const { client, session } = useDureContext();
  const queries = useQueryClient();
  const [state, setState] = useState(closed);
  const [userId, setUserId] = useState(session.userId);
  if (userId !== session.userId) {
    // During the render, so that no account sees the number of another one.
    setUserId(session.userId);
    setState(closed);
  }
  const listener = useRef(onNotification);
  useEffect(() => {
    listener.current = onNotification;
  });
  useEffect(() => {
    if (userId === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = Date.now();
    let touched: Touches[] = [];
    const refresh = (touches: Touches) => {
      touched.push(touches);
      timer ??= setTimeout(() => {
        const all = touched;
        timer = undefined;
        touched = [];
        invalidate(queries, client, (read) => all.some((touches) => touches(read)));
      }, delay);
    };
    let previous: StreamStatus = 'closed';
    let wasConnected = false;
    const stop = client.notifications.subscribe({
      onStatus(status) {
        const isConnected = status === 'open' || status === 'polling';
        if (isConnected && wasConnected && previous === 'connecting') refresh(touchesAll);
        // Closed on purpose, such as for another language, which is no outage.
        wasConnected = status !== 'closed' && (wasConnected || isConnected);
        previous = status;
        setState((current) => ({ ...current, status }));
      },
      onUnreadCount({ unread_count }) {
        setState((current) => ({ ...current, unreadCount: unread_count }));
        // At the start, the page was read just now, unless it took long to connect.
        if (Date.now() - begin > 1_000) refresh(touchedByNotification());
      },
      onNotification(notification) {
        refresh(touchedByNotification(notification));
        listener.current?.(notification);
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client, queries, userId]);
  return state;
}
