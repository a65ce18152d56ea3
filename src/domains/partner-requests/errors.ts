import { defineError } from '../../http/errors.ts';

export const partnerRequestErrors = {
  partnerRequestNotFound: defineError(404, 'partner_request_not_found', {
    ko: '해당 제휴 요청을 찾을 수 없습니다.',
    en: 'The partnership request was not found.',
  }),
  ownPost: defineError(409, 'own_post', {
    ko: '직접 쓴 글에는 제휴를 요청할 수 없습니다.',
    en: 'You cannot send a partnership request for your own post.',
  }),
  postClosed: defineError(409, 'post_closed', {
    ko: '마감된 글에는 제휴를 요청할 수 없습니다.',
    en: 'This post is closed and takes no more partnership requests.',
  }),
  alreadyRequested: defineError(409, 'already_requested', {
    ko: '이 글에 이미 제휴를 요청하셨습니다.',
    en: 'You have already sent a partnership request for this post.',
  }),
  invalidTransition: defineError(409, 'invalid_transition', {
    ko: '제휴 요청의 현재 상태에서는 할 수 없습니다.',
    en: 'The current state of the partnership request does not allow this.',
  }),
};
