import { type Static, Type } from '@sinclair/typebox';
import { defineError, httpErrors } from '../../http/errors.ts';
import * as t from '../../http/schemas.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { ImageRow } from './repository.ts';
import { filesOf, isKey } from './storage.ts';

export const imageErrors = {
  invalidImage: defineError(400, 'invalid_image', {
    ko: 'JPEG, PNG, WebP 사진만 올릴 수 있습니다. 손상된 파일과 5,000만 화소가 넘거나 한 변이 16,384픽셀을 넘는 사진은 올릴 수 없습니다.',
    en: 'The file must be a complete JPEG, PNG or WebP image of at most 50 megapixels, with neither side above 16,384 pixels.',
  }),
  conversionTimeout: {
    ...httpErrors.serviceUnavailable,
    text: { ko: '사진을 처리하는 데 시간이 너무 오래 걸립니다.', en: 'The image takes too long to process.' },
  },
  tooLarge: {
    ...httpErrors.payloadTooLarge,
    text: { ko: '사진은 10MB 이하여야 합니다.', en: 'An image may have at most 10 MB.' },
  },
  notMultipart: {
    ...httpErrors.unsupportedMediaType,
    text: { ko: '사진은 multipart/form-data로 보내 주세요.', en: 'The body must be multipart/form-data.' },
  },
  imageNotFound: defineError(404, 'image_not_found', {
    ko: '해당 사진을 찾을 수 없습니다.',
    en: 'The image was not found.',
  }),
  imageInUse: defineError(409, 'image_in_use', {
    ko: '글에 사용 중인 사진은 삭제할 수 없습니다. 먼저 글에서 사진을 빼 주세요.',
    en: 'A post uses this image. Please remove it from the post first.',
  }),
};

export const Image = t.NamedObject('Image', 'An uploaded image', {
  id: t.BigId('Identifier of the image'),
  url: t.Url('WebP of at most 1,600 px; in `images` of a post it stands for this image'),
  thumbnail_url: t.Url('WebP of at most 480 px'),
  width: t.Int32('Of the image at `url`, in pixels'),
  height: t.Int32('Of the image at `url`, in pixels'),
});
export type Image = Static<typeof Image>;

export const NewImage = t.Body('NewImage', 'An image to upload', {
  image: Type.Unsafe<Buffer>({
    type: 'string',
    format: 'binary',
    description:
      'A file: JPEG, PNG or WebP, whatever its name and type say; at most 10 MiB and 50 megapixels',
  }),
});

/** An image as the API shows it. */
export function toImage({ id, key, width, height }: ImageRow, imageUrls: ImageUrls): Image {
  return { id, url: imageUrls.url(key), thumbnail_url: imageUrls.thumbnailUrl(key), width, height };
}

type UrlConfig = Pick<Config, 'publicUrl'> & { images: Pick<Config['images'], 'baseUrl'> };

export type ImageUrls = ReturnType<typeof createImageUrls>;
/** URLs of images. Posts have the keys of uploaded images and the URLs of others, so that they stay right when the base changes. */
export function createImageUrls({ publicUrl, images }: UrlConfig) {
  const bases = [images.baseUrl, `${publicUrl}/media`].map((base) => plainUrl(`${base}/`));

  const urlOf = (size: 'large' | 'thumbnail') => (stored: string) =>
    isKey(stored) ? `${images.baseUrl}/${filesOf(stored)[size]}` : stored;
  /** The URLs of a stored image; those that are kept elsewhere have no small version. */
  const [url, thumbnailUrl] = [urlOf('large'), urlOf('thumbnail')];

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
    const key = text.slice(images.baseUrl.length + 1, -'.webp'.length);
    return isKey(key) && url(key) === text ? key : undefined;
  }

  /** Whether a URL, however it is spelled, is below the base of the images that this service serves. */
  const isOwn = (text: string) => bases.some((base) => plainUrl(text).startsWith(base));

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
