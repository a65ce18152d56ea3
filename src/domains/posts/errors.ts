import { defineError } from '../../http/errors.ts';

/** Errors of the operations on posts. */
export const postErrors = {
  postNotFound: defineError(404, 'post_not_found', {
    ko: '해당 글을 찾을 수 없습니다.',
    en: 'The post was not found.',
  }),
  storeRequired: defineError(403, 'store_required', {
    ko: '먼저 가게를 등록해 주세요.',
    en: 'Please register your store first.',
  }),
  notYourPost: defineError(403, 'forbidden', {
    ko: '직접 쓴 글만 수정하거나 삭제할 수 있습니다.',
    en: 'You can only change or delete your own posts.',
  }),
};
