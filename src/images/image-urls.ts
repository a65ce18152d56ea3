import type { Config } from '../config/config.ts';
import type { StoreSummary } from '../stores/schemas.ts';

/** The key of an uploaded picture: its folder, then its name without what distinguishes the sizes. 128 random bits. */
const keyPattern = /^[0-9a-f]{2}\/[0-9a-f]{30}$/;

export type ImageUrls = ReturnType<typeof createImageUrls>;

/**
 * URLs of pictures. Posts are stored with the keys of uploaded pictures and the URLs of all others, so that they stay right
 * when the base of the URLs changes.
 */
export function createImageUrls({
  publicUrl,
  images,
}: Pick<Config, 'publicUrl'> & { images: Pick<Config['images'], 'baseUrl'> }) {
  const bases = [images.baseUrl, `${publicUrl}/media`].map((base) => plainUrl(`${base}/`));

  /** The URL of a stored picture. */
  function url(stored: string): string {
    return isKey(stored) ? `${images.baseUrl}/${stored}.webp` : stored;
  }

  /** The URL of the small version of a stored picture; pictures that are kept elsewhere have none. */
  function thumbnailUrl(stored: string): string {
    return isKey(stored) ? `${images.baseUrl}/${stored}-480.webp` : stored;
  }

  /** The URL of the picture for all posts of a category that have no picture. */
  function neutralUrl(categoryId: number): string {
    return `${publicUrl}/media/categories/${categoryId}.webp`;
  }

  /** The thumbnail of a post: of its first picture, else the neutral one of the first category of its store. */
  function thumbnailOf(first: string | null | undefined, store: Pick<StoreSummary, 'store_categories'>) {
    if (first) return thumbnailUrl(first);
    // Every store has a category.
    return neutralUrl(store.store_categories[0]?.id ?? 0);
  }

  /** The key of the uploaded picture that has a URL, if the URL can be one of an uploaded picture. */
  function keyOf(text: string): string | undefined {
    if (!text.startsWith(`${images.baseUrl}/`) || !text.endsWith('.webp')) return undefined;
    const key = text.slice(images.baseUrl.length + 1, -'.webp'.length);
    return isKey(key) ? key : undefined;
  }

  /** Whether a URL, however it is spelled, is below the base of the pictures that this service serves. */
  function isOwn(text: string): boolean {
    return bases.some((base) => plainUrl(text).startsWith(base));
  }

  return { url, thumbnailUrl, thumbnailOf, keyOf, isOwn, isKey };
}

function isKey(stored: string): boolean {
  return keyPattern.test(stored);
}

/** A URL without its query, and with one spelling of its path: servers decode `%6d`, and many merge slashes. */
function plainUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  const decoded = pathname.replace(/%[0-7][0-9a-f]/gi, (byte) =>
    String.fromCharCode(Number(`0x${byte.slice(1)}`)),
  );
  return `${origin}${decoded.replace(/\/{2,}/g, '/')}`;
}
