import type { ImageUrls } from './image-urls.ts';
import type { ImageRow } from './repository.ts';
import type { Image } from './schemas.ts';

/** An uploaded picture as the API shows it. */
export function toImage({ id, key, width, height }: ImageRow, imageUrls: ImageUrls): Image {
  return { id, url: imageUrls.url(key), thumbnail_url: imageUrls.thumbnailUrl(key), width, height };
}
