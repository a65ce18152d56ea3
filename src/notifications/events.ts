/** The PostgreSQL channel on which instances tell each other about notifications, with {@link NotificationEvent} as JSON. */
export const notificationChannel = 'notifications';

/**
 * What is told when a transaction commits: a user got a notification, or another number of the user's notifications is unread
 * now because some were marked as read. Events of one user arrive in the order of their commits, as the ids do.
 */
export type NotificationEvent =
  | { user_id: number; notification_id: number }
  | { user_id: number; unread: true };
