import { type FieldTexts, invalidFields } from '../http/errors.ts';

const notUrl = { ko: '올바른 이미지 주소가 아닙니다.', en: 'Must be an absolute URL.' };
const notHttps = {
  ko: 'https://로 시작하는 주소여야 합니다.',
  en: 'Must be an absolute URL that starts with https://.',
};
const withCredentials = {
  ko: '주소에 아이디나 비밀번호를 넣을 수 없습니다.',
  en: 'Must not contain a user name or password.',
};

/** Characters that must be escaped in a URL (RFC 3987, section 2.2), and percent signs that escape nothing. */
const forbidden = /[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i;

/**
 * Checks that images are absolute URLs without credentials.
 *
 * @param production whether plain `http` is refused
 * @throws {ApiError} `validation_error` that names each failing image by its JSON pointer
 */
export function checkImages(images: readonly string[], { production }: { production: boolean }): void {
  const problems: FieldTexts = {};
  images.forEach((image, index) => {
    const problem = problemOf(image, production);
    if (problem) problems[`/images/${index}`] = [problem];
  });
  if (Object.keys(problems).length > 0) throw invalidFields(problems);
}

function problemOf(image: string, production: boolean) {
  const [, scheme, authority] = /^(https?):\/\/([^/?#]+)/i.exec(image) ?? [];
  if (scheme === undefined || authority === undefined) return notHttps;
  if (production && scheme.toLowerCase() === 'http') return notHttps;
  // The URL parser drops an empty user name.
  if (authority.includes('@')) return withCredentials;
  return forbidden.test(image) || !URL.canParse(image) ? notUrl : undefined;
}
