import type { Queryable } from '../../database/client.ts';
import { sql } from '../../database/sql.ts';
import { drawingOf } from './drawings.ts';

/** Neutral pictures, one for each category, for posts that have none. Each is drawn at its first request and kept in memory. */
export function createNeutralPictures(database: Queryable) {
  const pictures = new Map<number, Promise<Buffer>>();

  /** @returns WebP; undefined for a category that does not exist */
  async function find(categoryId: number): Promise<Buffer | undefined> {
    const known = pictures.get(categoryId);
    if (known !== undefined) return known;
    const [category] = await database.query<{ name: string }>(
      sql`SELECT name FROM store_categories WHERE id = ${categoryId}`,
    );
    if (category === undefined) return undefined;
    const picture = pictures.get(categoryId) ?? draw(category.name);
    pictures.set(categoryId, picture);
    // The next request tries again.
    picture.catch(() => pictures.delete(categoryId));
    return picture;
  }

  return { find };
}

async function draw(name: string): Promise<Buffer> {
  const { sharp } = await import('../conversion/sharp.ts');
  // Here only: the process that converts uploads has no decoder for it.
  sharp.unblock({ operation: ['VipsForeignLoadSvgBuffer'] });
  return sharp(Buffer.from(drawingOf(name)))
    .webp({ quality: 85 })
    .toBuffer();
}
