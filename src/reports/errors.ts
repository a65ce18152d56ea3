import type { ErrorDefinition } from '../http/errors.ts';

/** Failures of the operations on reports. */
export const reportErrors = {
  alreadyReported: {
    code: 'already_reported',
    status: 409,
    text: {
      ko: '이미 신고하셨습니다. 처리 결과를 기다려 주세요.',
      en: 'You have already reported this. Please wait for the decision.',
    },
  },
} as const satisfies Record<string, ErrorDefinition>;
