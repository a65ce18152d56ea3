import type { Notification, StreamStatus } from '@dure/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { invalidate } from './mutations.ts';
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

/** Subscribes while the user is signed in. With each notification everything that the page shows is read again. */
export function useLiveNotifications({ onNotification }: LiveOptions = {}): LiveState {
  const { client, session } = useDureContext();
  const queries = useQueryClient();
  const [state, setState] = useState(closed);
  const listener = useRef(onNotification);
  useEffect(() => {
    listener.current = onNotification;
  });
  useEffect(() => {
    setState(closed);
    if (session.userId === null) return undefined;
    return client.notifications.subscribe({
      onStatus: (status) => setState((current) => ({ ...current, status })),
      onUnreadCount: ({ unread_count }) => setState((current) => ({ ...current, unreadCount: unread_count })),
      onNotification(notification) {
        invalidate(queries);
        listener.current?.(notification);
      },
    });
  }, [client, queries, session.userId]);
  return state;
}
