import { type MailKind, writeMail } from '../../infrastructure/mail/content.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import type { MailComposers } from '../../infrastructure/mail/sending.ts';
import type { RecipientRow } from './accounts/repository.ts';
import type { AuthContext } from './context.ts';
import { authKinds } from './kinds.ts';
import { deletedAddress, type LoginMethodChange } from './notices.ts';

/** Composes emails when they are sent. Accounts are looked up here, so that a request takes the same time for every address. */
export function authMails({ config, database, sealer, ...repositories }: AuthContext) {
  const { frontendUrl, email: settings } = config;
  const { accounts, emailCodes, passwordResets, undoLinks } = repositories;
  const resetUrl = `${frontendUrl}/reset-password-request`;

  /** Composes an email to the account of a payload; none to one that is gone or suspended. */
  const toAccount =
    <Fields extends object>(
      kind: MailKind<Fields>,
      fieldsOf: (account: RecipientRow, payload: MailPayload) => Fields | null,
    ): MailComposers[string] =>
    async (payload) => {
      const account = await accounts.find(database, { id: Number(payload['user_id']) });
      const fields = account?.suspendedAt === null ? fieldsOf(account, payload) : null;
      return account && fields && { to: account.email, mail: writeMail(kind, languageOf(payload), fields) };
    };

  return {
    async verification_code(payload) {
      const issued = await emailCodes.find(String(payload['id']));
      if (issued === undefined) return null;
      const { email: to, code, token } = issued;
      const account = await accounts.find(database, { email: to });
      if (account && account.suspendedAt !== null) return null;
      const language = languageOf(payload);
      if (account?.isVerified) {
        const fields = { username: account.username, loginUrl: `${frontendUrl}/login`, resetUrl };
        return { to, userId: account.id, mail: writeMail(authKinds.account_exists, language, fields) };
      }
      const url = `${frontendUrl}/verify-email?${new URLSearchParams({ token })}`;
      const fields = { code, url, minutes: toMinutes(settings.codeTtl) };
      return { to, userId: account?.id, mail: writeMail(authKinds.verification_code, language, fields) };
    },

    async reset_link(payload) {
      const link = await passwordResets.find(String(payload['id']));
      const account = link && (await accounts.find(database, { email: link.email }));
      if (!link || account?.suspendedAt !== null) return null;
      const { email: to, uid, token } = link;
      const url = `${frontendUrl}/reset-password?${new URLSearchParams({ uid, token })}`;
      const fields = { name: account.name, url, minutes: toMinutes(settings.passwordResetTtl) };
      return { to, userId: account.id, mail: writeMail(authKinds.reset_link, languageOf(payload), fields) };
    },

    password_changed: toAccount(authKinds.password_changed, ({ isVerified, name }, payload) => {
      if (!isVerified) return null;
      const ended = payload['ended'] === 'all' ? 'all' : 'others';
      return { name, changedAt: changeTimeOf(payload), ended, url: resetUrl };
    }),

    /** To the old address, whatever address the account has now. */
    async email_changed(payload) {
      const change = await undoLinks.find(String(payload['id']));
      const account = change && (await accounts.find(database, { id: change.userId }));
      if (!change || account?.suspendedAt !== null) return null;
      const url = `${frontendUrl}/undo-email-change?${new URLSearchParams({ token: change.token })}`;
      const newEmail = maskEmail(change.newEmail);
      const fields = { name: account.name, newEmail, changedAt: changeTimeOf(payload), url };
      return { to: change.oldEmail, mail: writeMail(authKinds.email_changed, languageOf(payload), fields) };
    },

    login_method_changed: toAccount(authKinds.login_method_changed, ({ isVerified, name }, payload) => {
      if (!isVerified) return null;
      const { change, method, label = '' } = payload as MailPayload & LoginMethodChange;
      return { name, change, method, label, changedAt: changeTimeOf(payload), url: resetUrl };
    }),

    /** Obsolete once the consent was withdrawn. */
    marketing_consent: toAccount(
      authKinds.marketing_consent,
      ({ isVerified, marketingAskedAt, name }, payload) => {
        if (!isVerified || marketingAskedAt === null) return null;
        return { name, givenAt: new Date(Number(payload['given_at'])), url: `${frontendUrl}/account` };
      },
    ),

    user_id: toAccount(authKinds.user_id, ({ name, username }) => ({
      ...{ name, username },
      url: `${frontendUrl}/login`,
    })),

    /** The account is gone, so its address is in the payload, sealed. */
    async account_deleted(payload) {
      const to = sealer.unseal(String(payload['email']), deletedAddress);
      const fields = { deletedAt: changeTimeOf(payload) };
      return to ? { to, mail: writeMail(authKinds.account_deleted, languageOf(payload), fields) } : null;
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
const languageOf = (payload: MailPayload) => (payload['language'] === 'en' ? 'en' : 'ko');
const toMinutes = (seconds: number) => Math.max(1, Math.round(seconds / 60));
