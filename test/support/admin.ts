import { type Api, createUser, type Fields, type TestApp } from './app.ts';

type Caller = { token: string };

/** Creates a user who is an admin. */
export async function createAdmin(app: TestApp, fields: Fields = {}) {
  const user = await createUser(app, fields);
  await app.pool.query("UPDATE users SET role = 'admin' WHERE id = $1", [user.id]);
  return user;
}

/** Reports a post or a store. @returns the id of the report @throws when it is rejected */
export async function sendReport({ call }: Api, { token }: Caller, target: 'posts' | 'stores', id: number) {
  const response = await call('POST', `/api/v1/${target}/${id}/report/`, { token, body: { reason: 'spam' } });
  if (response.status !== 201) throw new Error(`the report was rejected: ${response.text}`);
  return Number(response.body.data.id);
}

/** Closes a report. */
export function closeReport({ call }: Api, { token }: Caller, id: number, action: 'none' | 'hide') {
  return call('POST', `/api/v1/admin/reports/${id}/close/`, { token, body: { action } });
}

/** Adds an email that failed permanently. @returns its id */
export async function addFailedMail({ pool }: TestApp, { id }: { id: number }, kind = 'user_id') {
  const { rows } = await pool.query(
    `INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
     VALUES ($1, $2, $3, 'the provider rejected it', 25) RETURNING id`,
    [id, kind, JSON.stringify({ user_id: id, language: 'ko' })],
  );
  return Number(rows[0].id);
}
