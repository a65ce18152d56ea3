import { invalidFields } from '../../http/errors.ts';
import type { FieldError, Problem } from '../../http/field-errors.ts';
import type { Tx } from '../../infrastructure/database/client.ts';
import type { ImageUrls, PostImages } from '../images/index.ts';

const notUrl: Problem = {
  code: 'invalid_format',
  text: {
    ko: '공백이나 특수 문자가 없는 전체 이미지 주소여야 합니다. 예: https://cdn.example.com/1.jpg',
    en: 'Must be an absolute URL without spaces or unescaped characters, such as https://cdn.example.com/1.jpg.',
  },
};
const notHttps: Problem = {
  code: 'invalid_format',
  text: {
    ko: '이미지 주소는 https://로 시작해야 합니다.',
    en: 'Must be an absolute URL that starts with https://.',
  },
};
const withCredentials: Problem = {
  code: 'invalid_format',
  text: {
    ko: '이미지 주소에 아이디나 비밀번호를 넣을 수 없습니다.',
    en: 'Must not contain a user name or password.',
  },
};

const notUploaded: Problem = {
  code: 'not_found',
  text: {
    ko: '직접 올린 사진의 주소(url)가 아니거나 삭제된 사진입니다.',
    en: 'Must be the url of an image that you uploaded and did not delete.',
  },
};

/** Characters that must be escaped in a URL (RFC 3987, section 2.2), and percent signs that escape nothing. */
const forbidden = /[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i;

/**
 * Checks that images are absolute URLs without credentials.
 *
 * @param production whether plain `http` is rejected
 * @throws {ApiError} `validation_error` that names each failing image by its JSON pointer
 */
export function checkImages(images: readonly string[], { production }: { production: boolean }): void {
  const errors = images.flatMap((image, index): FieldError[] => {
    const problem = problemOf(image, production);
    return problem ? [{ field: `/images/${index}`, ...problem }] : [];
  });
  if (errors.length > 0) throw invalidFields(errors);
}

function problemOf(image: string, production: boolean): Problem | undefined {
  const [, scheme, authority] = /^(https?):\/\/([^/?#]+)/i.exec(image) ?? [];
  if (scheme === undefined || authority === undefined) return notHttps;
  if (production && scheme.toLowerCase() === 'http') return notHttps;
  // The URL parser drops an empty user name.
  if (authority.includes('@')) return withCredentials;
  return forbidden.test(image) || !URL.canParse(image) ? notUrl : undefined;
}

/** The images of a post as they are stored, and which of them are uploaded ones. */
export interface StoredImages {
  images: string[];
  keys: string[];
}

/**
 * Replaces the URLs of uploaded images by their keys.
 *
 * @throws {ApiError} `validation_error` that names URLs below the base of the images that are none of an image
 */
export function toStored(urls: readonly string[], imageUrls: ImageUrls): StoredImages {
  const images = urls.map((url) => imageUrls.keyOf(url) ?? url);
  reject(images, (image) => !imageUrls.isKey(image) && imageUrls.isOwn(image));
  return { images, keys: images.filter(imageUrls.isKey) };
}

/** @throws {ApiError} `validation_error` that names the uploaded images of a post that were not linked to it */
export function checkLinked({ images, keys }: StoredImages, linked: readonly string[]): void {
  reject(images, (image) => keys.includes(image) && !linked.includes(image));
}

/**
 * Comes before the post is written, because a rollback leaves what it added to the indexes.
 *
 * @throws {ApiError} `validation_error` that names the uploaded images that the user cannot use
 */
export async function checkOwn(
  connection: Tx,
  userId: number,
  stored: StoredImages,
  postImages: PostImages,
): Promise<void> {
  if (stored.keys.length === 0) return;
  checkLinked(stored, await postImages.findOwn(connection, userId, stored.keys));
}

function reject(images: readonly string[], isRejected: (image: string) => boolean): void {
  const errors = images.flatMap((image, index) =>
    isRejected(image) ? [{ field: `/images/${index}`, ...notUploaded }] : [],
  );
  if (errors.length > 0) throw invalidFields(errors);
}
