import type { ErrorDefinition } from '../http/errors.ts';

/** Failures of the operations for admins. */
export const adminErrors = {
  adminAccount: {
    code: 'forbidden',
    status: 403,
    text: {
      ko: '관리자 계정은 정지하거나 정지를 해제할 수 없습니다.',
      en: "You cannot suspend or reactivate an admin's account.",
    },
  },
} as const satisfies Record<string, ErrorDefinition>;
