/** A statement that PostgreSQL keeps under its name. */
export interface Statement {
  name: string;
  text: string;
}

/** The user of a live session, whose id is $1 and whose user is $2. */
const session = `sessions s JOIN users u ON u.id = s.user_id AND u.suspended_at IS NULL
  AND s.id = $1 AND s.user_id = $2 AND s.expires_at > now()`;

/** The work of each route in one statement, the check of the session included. */
export const statements = {
  me: { name: 'me', text: `SELECT u.id, u.username, u.name, u.email, u.role, u.is_verified FROM ${session}` },
  unreadCount: {
    name: 'unread-count',
    text: `SELECT (SELECT count(*)::int FROM notifications n WHERE n.user_id = u.id AND NOT n.is_read) AS unread_count
      FROM ${session}`,
  },
} satisfies Record<string, Statement>;
