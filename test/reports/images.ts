import { randomBytes } from 'node:crypto';
import type { TestApp } from '../support/app.ts';

/** An image of a user as after its upload, but without its files. */
export async function addImage({ config, pool }: TestApp, { id: userId }: { id: number }) {
  const key = `ab/${randomBytes(15).toString('hex')}`;
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO images (user_id, key, state, width, height) VALUES ($1, $2, 'ready', 40, 30) RETURNING id`,
    [userId, key],
  );
  return { id: rows[0]?.id ?? 0, url: `${config.publicUrl}/media/${key}.webp` };
}
