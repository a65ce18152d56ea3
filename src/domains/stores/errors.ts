import { defineError } from '../../http/errors.ts';

/** Errors of the operations on stores. */
export const storeErrors = {
  storeNotFound: defineError(404, 'store_not_found', {
    ko: '가게를 찾을 수 없습니다.',
    en: 'The store was not found.',
  }),
  storeExists: defineError(409, 'store_exists', {
    ko: '이미 등록하신 가게가 있습니다.',
    en: 'You have already registered a store.',
  }),
};
