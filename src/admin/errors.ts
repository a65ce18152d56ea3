import type { ErrorDefinition } from '../http/errors.ts';

/** Failures of the operations for admins. */
export const adminErrors = {
  ownAccount: {
    code: 'forbidden',
    status: 403,
    text: { ko: '자신의 계정은 정지할 수 없습니다.', en: 'You cannot suspend your own account.' },
  },
} as const satisfies Record<string, ErrorDefinition>;
