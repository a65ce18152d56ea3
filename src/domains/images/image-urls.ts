import { randomBytes } from 'node:crypto';
import type { Config } from '../../infrastructure/config/config.ts';

/** A key for an uploaded image: its folder, then its name without what distinguishes the sizes. 128 random bits. */
export const newKey = () => randomBytes(16).toString('hex').replace(/^../, '$&/');

const isKey = (stored: string) => /^[0-9a-f]{2}\/[0-9a-f]{30}$/.test(stored);

/** The names of the files of an image. */
export const filesOf = (key: string) => ({ large: `${key}.webp`, thumbnail: `${key}-480.webp` });

/** Whether a text is the name of a file of an image. */
export const isFileName = (name: string) =>
  isKey(name.replace(/(-480)?\.webp$/, '')) && name.endsWith('.webp');

type UrlConfig = Pick<Config, 'publicUrl'> & { images: Pick<Config['images'], 'baseUrl'> };

export type ImageUrls = ReturnType<typeof createImageUrls>;

/** URLs of images. Posts have the keys of uploaded images and the URLs of others, so that they stay right when the base changes. */
export function createImageUrls({ publicUrl, images }: UrlConfig) {
  const bases = [images.baseUrl, `${publicUrl}/media`].map((base) => plainUrl(`${base}/`));

  function url(stored: string): string {
    return isKey(stored) ? `${images.baseUrl}/${filesOf(stored).large}` : stored;
  }

  /** The URL of the small version of a stored image; images that are kept elsewhere have none. */
  function thumbnailUrl(stored: string): string {
    return isKey(stored) ? `${images.baseUrl}/${filesOf(stored).thumbnail}` : stored;
  }

  /** The thumbnail of a post: of its first image, else the placeholder of the first category of its store. */
  function thumbnailOf(
    first: string | null | undefined,
    store: { store_categories: readonly { id: number }[] },
  ) {
    // Every store has a category.
    const placeholder = `${publicUrl}/media/categories/${store.store_categories[0]?.id ?? 0}.webp`;
    return first ? thumbnailUrl(first) : placeholder;
  }

  /** The key of the uploaded image that has a URL, if the URL can be one of an uploaded image. */
  function keyOf(text: string): string | undefined {
    if (!text.startsWith(`${images.baseUrl}/`) || !text.endsWith('.webp')) return undefined;
    const key = text.slice(images.baseUrl.length + 1, -'.webp'.length);
    return isKey(key) ? key : undefined;
  }

  /** Whether a URL, however it is spelled, is below the base of the images that this service serves. */
  function isOwn(text: string): boolean {
    return bases.some((base) => plainUrl(text).startsWith(base));
  }

  return { url, thumbnailUrl, thumbnailOf, keyOf, isOwn, isKey };
}

/** A URL without its query, and with one spelling of its path: servers decode `%6d`, and many merge slashes. */
function plainUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  const decoded = pathname.replace(/%[0-7][0-9a-f]/gi, (byte) =>
    String.fromCharCode(Number(`0x${byte.slice(1)}`)),
  );
  return `${origin}${decoded.replace(/\/{2,}/g, '/')}`;
}
