import { invalidFields } from '../../http/errors.ts';
import type { Problem } from '../../http/field-errors.ts';
import type { Tx } from '../../infrastructure/database/client.ts';
import type { ImageUrls, PostImages } from '../images/index.ts';

const notUploaded: Problem = {
  code: 'not_found',
  text: {
    ko: '직접 올린 사진의 주소(url)가 아니거나 삭제된 사진입니다.',
    en: 'Must be the url of a picture that you uploaded and did not delete.',
  },
};

/** The pictures of a post as they are stored, and which of them are uploaded ones. */
export interface StoredImages {
  images: string[];
  keys: string[];
}

/**
 * Replaces the URLs of uploaded pictures by their keys.
 *
 * @throws {ApiError} `validation_error` that names URLs below the base of the pictures that are none of a picture
 */
export function toStored(urls: readonly string[], imageUrls: ImageUrls): StoredImages {
  const images = urls.map((url) => imageUrls.keyOf(url) ?? url);
  refuse(images, (image) => !imageUrls.isKey(image) && imageUrls.isOwn(image));
  return { images, keys: images.filter(imageUrls.isKey) };
}

/** @throws {ApiError} `validation_error` that names the uploaded pictures of a post that were not linked to it */
export function checkLinked({ images, keys }: StoredImages, linked: readonly string[]): void {
  refuse(images, (image) => keys.includes(image) && !linked.includes(image));
}

/**
 * Comes before the post is written, because a rollback leaves what it added to the indexes.
 *
 * @throws {ApiError} `validation_error` that names the uploaded pictures that the user cannot use
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

function refuse(images: readonly string[], isRefused: (image: string) => boolean): void {
  const errors = images.flatMap((image, index) =>
    isRefused(image) ? [{ field: `/images/${index}`, ...notUploaded }] : [],
  );
  if (errors.length > 0) throw invalidFields(errors);
}
