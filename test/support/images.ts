import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import sharp from 'sharp';
import type { Image } from '../../src/domains/images/schemas.ts';
import type { Api, TestApp } from './app.ts';

/** One part of a multipart body: a file with a name, or a text. */
export interface Part {
  name: string;
  content: Buffer | string;
  filename?: string;
  type?: string;
}

const boundary = 'boundary-of-the-tests';

/** The header of the bodies that {@link multipart} makes. */
export const multipartType = { 'content-type': `multipart/form-data; boundary=${boundary}` };

/** A body of multipart/form-data. */
export function multipart(...parts: Part[]): Buffer {
  const chunks = parts.flatMap(({ name, content, filename, type }) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"\r\ncontent-type: ${type ?? 'image/jpeg'}`,
    '\r\n\r\n',
    content,
    '\r\n',
  ]);
  return Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk)));
}

/** Uploads bytes as the file `image`. */
export function upload({ call }: Api, token: string, content: Buffer) {
  const body = multipart({ name: 'image', content, filename: 'photo.jpg' });
  return call('POST', '/api/v1/images/', { token, body, headers: multipartType });
}

/** Uploads a small image of one colour. */
export async function uploadImage(app: Api, token: string): Promise<Image> {
  const response = await upload(app, token, await plainImage());
  if (response.status !== 201) throw new Error(`the image was not uploaded: ${response.text}`);
  return response.body.data;
}

/** An image of a user as after its upload, but without its files. */
export async function addImage({ config, pool }: TestApp, { id: userId }: { id: number }, state = 'ready') {
  const key = randomBytes(16).toString('hex').replace(/^../, '$&/');
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO images (user_id, key, state, width, height, check_after)
     VALUES ($1, $2, $3, 40, 30, now() + interval '24 hours') RETURNING id`,
    [userId, key, state],
  );
  const base = `${config.publicUrl}/media/${key}`;
  return { id: rows[0]?.id ?? 0, key, url: `${base}.webp`, thumbnail_url: `${base}-480.webp` };
}

/** An image of one colour, as JPEG. */
export function plainImage(width = 40, height = 30): Promise<Buffer> {
  return canvas(width, height).jpeg().toBuffer();
}

/** Names of the files of images below a folder, also of those that are not complete. */
export async function imageFilesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => name.includes('.webp')).sort();
}

/** Runs the clean-up, so many times at once. */
export async function cleanUp({ pool, mails }: TestApp, runs = 1): Promise<void> {
  await pool.query(`SELECT graphile_worker.add_job('clean_up') FROM generate_series(1, $1)`, [runs]);
  await mails.settled();
}

/** A canvas of one colour. */
export function canvas(width: number, height: number, background = '#d0402a') {
  return sharp({ create: { width, height, channels: 3, background } });
}
