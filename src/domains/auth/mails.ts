import type { User } from '../../infrastructure/database/generated/client.ts';
import { type MailKind, writeMail } from '../../infrastructure/mail/content.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import type { MailComposers } from '../../infrastructure/mail/sending.ts';
import type { AuthContext } from './context.ts';
import { authKinds, deletedAddress, type LoginMethodChange } from './kinds.ts';

/** Composes emails when they are sent. Accounts are looked up here, so that a request takes the same time for every address. */
export function authMails(auth: AuthContext) {
  const { database, sealer, accounts, emailCodes, passwordResets, undoLinks } = auth;
  const { frontendUrl, email: settings } = auth.config;
  const resetUrl = `${frontendUrl}/reset-password-request`;
  const loginUrl = `${frontendUrl}/login`;
  const linkTo = (page: string, query: Record<string, string>) =>
    `${frontendUrl}/${page}?${new URLSearchParams(query)}`;

  /** Composes an email to the account of a payload; none to one that is gone or suspended. */
  const toAccount =
    <Fields extends object>(
      kind: MailKind<Fields>,
      fieldsOf: (account: User, payload: MailPayload) => Fields | null,
    ): MailComposers[string] =>
    async (payload) => {
      const account = await accounts.find(database, { id: Number(payload['user_id']), suspendedAt: null });
      const fields = account && fieldsOf(account, payload);
      return fields && { to: account.email, mail: write(kind, payload, fields) };
    };

  return {
    async verification_code(payload) {
      const issued = await emailCodes.find(String(payload['id']));
      const account = issued && (await accounts.find(database, { email: issued.email }));
      if (!issued || account?.suspendedAt) return null;
      const { email: to, code, token } = issued;
      const { id: userId, username = '', isVerified } = account ?? {};
      if (isVerified) {
        return {
          to,
          userId,
          mail: write(authKinds.account_exists, payload, { username, loginUrl, resetUrl }),
        };
      }
      const fields = { code, url: linkTo('verify-email', { token }), minutes: toMinutes(settings.codeTtl) };
      return { to, userId, mail: write(authKinds.verification_code, payload, fields) };
    },

    async reset_link(payload) {
      const link = await passwordResets.find(String(payload['id']));
      const account = link && (await accounts.find(database, { email: link.email, suspendedAt: null }));
      if (!account) return null;
      const { email: to, uid, token } = link;
      const url = linkTo('reset-password', { uid, token });
      const fields = { name: account.name, url, minutes: toMinutes(settings.passwordResetTtl) };
      return { to, userId: account.id, mail: write(authKinds.reset_link, payload, fields) };
    },

    password_changed: toAccount(authKinds.password_changed, ({ name }, payload) => {
      const ended = payload['ended'] === 'all' ? 'all' : 'others';
      return { name, changedAt: changeTimeOf(payload), ended, url: resetUrl };
    }),

    /** To the old address, whatever address the account has now. */
    async email_changed(payload) {
      const change = await undoLinks.find(String(payload['id']));
      const account = change && (await accounts.find(database, { id: change.userId, suspendedAt: null }));
      if (!account) return null;
      const url = linkTo('undo-email-change', { token: change.token });
      const newEmail = maskEmail(change.newEmail);
      const fields = { name: account.name, newEmail, changedAt: changeTimeOf(payload), url };
      return { to: change.oldEmail, mail: write(authKinds.email_changed, payload, fields) };
    },

    login_method_changed: toAccount(authKinds.login_method_changed, ({ name }, payload) => {
      const { change, method, label = '' } = payload as MailPayload & LoginMethodChange;
      return { name, change, method, label, changedAt: changeTimeOf(payload), url: resetUrl };
    }),

    /** Obsolete once the consent was withdrawn. */
    marketing_consent: toAccount(authKinds.marketing_consent, ({ marketingAskedAt, name }, payload) => {
      if (marketingAskedAt === null) return null;
      return { name, givenAt: new Date(Number(payload['given_at'])), url: `${frontendUrl}/account` };
    }),

    user_id: toAccount(authKinds.user_id, ({ name, username }) => ({ name, username, url: loginUrl })),

    /** The account is gone, so its address is in the payload, sealed. */
    async account_deleted(payload) {
      const to = sealer.unseal(String(payload['email']), deletedAddress);
      const fields = { deletedAt: changeTimeOf(payload) };
      return to ? { to, mail: write(authKinds.account_deleted, payload, fields) } : null;
    },
  } satisfies MailComposers<Exclude<keyof typeof authKinds, 'account_exists'>>;
}

/** As `o***@e***.com`: a user recognises an own address, others cannot read it, and the asterisks do not tell its length. */
function maskEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  const topLevel = domain.slice(domain.lastIndexOf('.'));
  return `${local.slice(0, 1)}***@${domain.slice(0, 1)}***${topLevel}`;
}

const changeTimeOf = (payload: MailPayload) => new Date(Number(payload['changed_at']));
const write = <Fields extends object>(kind: MailKind<Fields>, payload: MailPayload, fields: Fields) =>
  writeMail(kind, payload['language'] === 'en' ? 'en' : 'ko', fields);
const toMinutes = (seconds: number) => Math.max(1, Math.round(seconds / 60));
