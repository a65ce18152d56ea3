import type { ErrorDefinition } from '../../http/errors.ts';

/** Errors of the operations on partner requests. */
export const partnerRequestErrors = {
  partnerRequestNotFound: {
    code: 'partner_request_not_found',
    status: 404,
    text: { ko: '해당 제휴 요청을 찾을 수 없습니다.', en: 'The partnership request was not found.' },
  },
  ownPost: {
    code: 'own_post',
    status: 409,
    text: {
      ko: '직접 쓴 글에는 제휴를 요청할 수 없습니다.',
      en: 'You cannot send a partnership request for your own post.',
    },
  },
  alreadyRequested: {
    code: 'already_requested',
    status: 409,
    text: {
      ko: '이 글에 이미 제휴를 요청하셨습니다.',
      en: 'You have already sent a partnership request for this post.',
    },
  },
  invalidTransition: {
    code: 'invalid_transition',
    status: 409,
    text: {
      ko: '제휴 요청의 현재 상태에서는 할 수 없습니다.',
      en: 'The present state of the partnership request does not allow this.',
    },
  },
} as const satisfies Record<string, ErrorDefinition>;
