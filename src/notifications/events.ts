/** The PostgreSQL channel with {@link NotificationEvent} as JSON. */
export const notificationChannel = 'notifications';

/**
 * Sent with `NOTIFY` when a transaction commits: a user has a new notification, or fewer unread ones. Events of one user
 * arrive in commit order.
 */
export type NotificationEvent =
  | { user_id: number; notification_id: number }
  | { user_id: number; unread: true };
