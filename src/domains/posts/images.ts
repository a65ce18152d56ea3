import { invalidFields } from '../../http/errors.ts';
import type { FieldError, Problem } from '../../http/field-errors.ts';

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

/** Characters that must be escaped in a URL (RFC 3987, section 2.2), and percent signs that escape nothing. */
const forbidden = /[\s"<>\\^`{|}]|%(?![0-9a-f]{2})/i;

/**
 * Checks that images are absolute URLs without credentials.
 *
 * @param production whether plain `http` is refused
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
