import type { ErrorDefinition } from '../../http/errors.ts';

/** Failures of the operations on stores. */
export const storeErrors = {
  storeNotFound: {
    code: 'store_not_found',
    status: 404,
    text: { ko: '가게를 찾을 수 없습니다.', en: 'The store was not found.' },
  },
  storeExists: {
    code: 'store_exists',
    status: 409,
    text: { ko: '이미 등록하신 가게가 있습니다.', en: 'You have already registered a store.' },
  },
} as const satisfies Record<string, ErrorDefinition>;
