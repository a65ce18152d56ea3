import type { ErrorDefinition } from '../http/errors.ts';

/** Failures of the operations on posts. */
export const postErrors = {
  postNotFound: {
    code: 'post_not_found',
    status: 404,
    text: { ko: '해당 글이 없습니다.', en: 'There is no such post.' },
  },
  storeRequired: {
    code: 'store_required',
    status: 403,
    text: { ko: '먼저 가게를 등록해 주세요.', en: 'Please register your store first.' },
  },
  notYourPost: {
    code: 'forbidden',
    status: 403,
    text: { ko: '내가 쓴 글이 아닙니다.', en: 'This post belongs to another store.' },
  },
} as const satisfies Record<string, ErrorDefinition>;
