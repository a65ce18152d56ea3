import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dure, type Notification } from './api.ts';
import { useToasts } from './components/toasts.tsx';
import { useSession } from './session.tsx';

type Listener = (notification: Notification) => void;

interface LiveContext {
  /** How many notifications are unread. */
  unread: number;
  setUnread(count: number): void;
  listeners: Set<Listener>;
}

const Context = createContext<LiveContext | null>(null);

/** Subscribes to the notifications of the account: the badge, a toast for each, and views that show what changed. */
export function LiveProvider({ children }: { children: ComponentChildren }) {
  const { session } = useSession();
  const { show } = useToasts();
  const [unread, setUnread] = useState(0);
  const listeners = useRef(new Set<Listener>()).current;
  const userId = session.status === 'signedIn' ? session.user.id : undefined;

  useEffect(() => {
    setUnread(0);
    if (userId === undefined) return undefined;
    return dure.notifications.subscribe({
      onUnreadCount: ({ unread_count }) => setUnread(unread_count),
      onNotification: (notification) => {
        show(notification.message);
        for (const listener of listeners) listener(notification);
      },
    });
  }, [userId, show, listeners]);

  const value = useMemo(() => ({ unread, setUnread, listeners }), [unread, listeners]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** The number of unread notifications. */
export function useUnread(): Pick<LiveContext, 'unread' | 'setUnread'> {
  return useLiveContext();
}

/** Calls `listener` for each notification that arrives while the view is shown. */
export function useLiveNotifications(listener: Listener): void {
  const { listeners } = useLiveContext();
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => {
    const call: Listener = (notification) => newest.current(notification);
    listeners.add(call);
    return () => void listeners.delete(call);
  }, [listeners]);
}

function useLiveContext(): LiveContext {
  const value = useContext(Context);
  if (value === null) throw new Error('live notifications need a LiveProvider');
  return value;
}
