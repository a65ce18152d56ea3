import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page, PageQuery } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Block, OptionalLine } from '../../http/text.ts';
import { User } from '../auth/index.ts';
import { StoreSummary } from '../stores/index.ts';

export const adminErrors = {
  adminAccount: defineError(403, 'forbidden', {
    ko: '관리자 계정은 정지하거나 정지를 해제할 수 없습니다.',
    en: "You cannot suspend or reactivate an admin's account.",
  }),
};

export const AdminUser = t.NamedObject('AdminUser', 'An account as admins see it', {
  ...User.properties,
  suspended_at: t.OrNull(t.Timestamp('When the account was suspended; `null` while it is not')),
  suspended_reason: t.OrNull(t.Text('Why it was suspended, in the words of the admin', 1000)),
  created_at: t.Timestamp('When the user signed up'),
  last_login_at: t.OrNull(
    t.Timestamp('The last login, a refresh of the tokens not counted; `null` before the first one'),
  ),
  store: t.RefOrNull(StoreSummary, 'The store of the user, also where it is hidden; `null` without one'),
});
export type AdminUser = Static<typeof AdminUser>;
export const AdminUserPage = Page('AdminUserPage', t.Ref(AdminUser));

export const AdminUserQuery = Type.Object({
  q: OptionalLine(
    'Only accounts whose username, email address or name contains this text, in any case. An `id` or a whole email address finds that account only. Empty for all accounts.',
    254,
  ),
  ...PageQuery,
});

export const Suspension = t.Body('Suspension', 'Why an account is suspended', {
  reason: Block('Why, for other admins; the user does not see it', 1000),
});

export const FailedMail = t.NamedObject('FailedMail', 'An email that is not retried automatically', {
  id: t.BigId('Identifier of the failed email'),
  user_id: t.OrNull(t.Int32('The account that was to get it; `null` for an address without an account')),
  kind: t.Text('What kind of email it is', { pattern: '^[a-z0-9_]+$', maxLength: 50 }),
  reason: t.Text('Why the last attempt failed, without anything of the email itself', 500),
  attempts: t.Int32('How often it was tried'),
  created_at: t.Timestamp('When the last attempt failed'),
});
export const FailedMailPage = Page('FailedMailPage', t.Ref(FailedMail));
