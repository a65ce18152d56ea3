import { invalidFields } from '../../http/errors.ts';
import type { Problem } from '../../http/field-errors.ts';
import type { ImageUrls } from '../images/index.ts';

const invalidFormat = (ko: string, en: string): Problem => ({ code: 'invalid_format', text: { ko, en } });
const notUrl = invalidFormat(
  '공백이나 특수 문자가 없는 전체 이미지 주소여야 합니다. 예: https://cdn.example.com/1.jpg',
  'Must be an absolute URL without spaces or unescaped characters, such as https://cdn.example.com/1.jpg.',
);
const notHttps = invalidFormat(
  '이미지 주소는 https://로 시작해야 합니다.',
  'Must be an absolute URL that starts with https://.',
);
const withCredentials = invalidFormat(
  '이미지 주소에 아이디나 비밀번호를 넣을 수 없습니다.',
  'Must not contain a user name or password.',
);
const notUploaded: Problem = {
  code: 'not_found',
  text: {
    ko: '직접 올린 사진의 주소(url)가 아니거나 삭제된 사진입니다.',
    en: 'Must be the url of an image that you uploaded and did not delete.',
  },
};

/** Characters that must be escaped in a URL (RFC 3987, section 2.2), and percent signs that escape nothing. */
const forbidden = /[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i;

/** The images of a post as they are stored, and which of them are uploaded ones. */
export interface StoredImages {
  images: string[];
  keys: string[];
}

/**
 * Checks that images are absolute URLs without credentials, and replaces those of uploaded images by their keys.
 *
 * @param production whether plain `http` is rejected
 * @throws {ApiError} `validation_error` that names each rejected image by its JSON pointer; a URL of this service that is not an
 *   uploaded image is rejected, too
 */
export function readImages(
  urls: readonly string[],
  imageUrls: ImageUrls,
  { production }: { production: boolean },
): StoredImages {
  reject(urls, (url) => problemOf(url, production));
  const images = urls.map((url) => imageUrls.keyOf(url) ?? url);
  reject(images, (image) => (!imageUrls.isKey(image) && imageUrls.isOwn(image) ? notUploaded : undefined));
  return { images, keys: images.filter(imageUrls.isKey) };
}

function problemOf(url: string, production: boolean): Problem | undefined {
  const [, scheme, authority] = /^(https?):\/\/([^/?#]+)/i.exec(url) ?? [];
  if (scheme === undefined || authority === undefined) return notHttps;
  if (production && scheme.toLowerCase() === 'http') return notHttps;
  // The URL parser drops an empty user name.
  if (authority.includes('@')) return withCredentials;
  return forbidden.test(url) || !URL.canParse(url) ? notUrl : undefined;
}

/** @throws {ApiError} `validation_error` that names the uploaded images of a post that are not among the usable ones */
export function checkUsable({ images, keys }: StoredImages, usable: readonly string[]): void {
  reject(images, (image) => (keys.includes(image) && !usable.includes(image) ? notUploaded : undefined));
}

function reject(images: readonly string[], check: (image: string) => Problem | undefined): void {
  const errors = images.flatMap((image, index) => {
    const problem = check(image);
    return problem ? [{ field: `/images/${index}`, ...problem }] : [];
  });
  if (errors.length > 0) throw invalidFields(errors);
}
