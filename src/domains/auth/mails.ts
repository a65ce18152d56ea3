import type { Language } from '../../http/language.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { MailComposers, MailPayload } from '../../infrastructure/jobs/worker.ts';
import type { UnrequestedMail } from '../../infrastructure/mail/queue.ts';
import type { Mail } from '../../infrastructure/mail/templates.ts';
import type { RecipientRow } from './accounts/repository.ts';
import type { AuthContext } from './context.ts';

/** What a notice is about. */
export interface LoginMethodChange {
  change: 'added' | 'removed';
  method: 'identity' | 'passkey' | 'second_factor';
  /** Which one: the name of the provider or of the passkey. */
  label?: string;
}

/**
 * Composes this domain's emails when they are sent. Accounts are looked up here and not when an email is requested, so that the
 * request takes the same time for every address.
 */
export function authMails(
  { frontendUrl, email: settings }: Config,
  database: Database,
  { accounts, emailCodes, passwordResets, undoLinks }: AuthContext,
): MailComposers {
  const resetUrl = `${frontendUrl}/reset-password-request`;

  /** Composes an email to the account of a payload; none to one that is gone or suspended. */
  const toAccount =
    (compose: (account: RecipientRow, payload: MailPayload) => Mail | null): MailComposers[string] =>
    async (payload) => {
      const account = await accounts.find(database, { id: Number(payload['user_id']) });
      const mail = account?.suspendedAt === null ? compose(account, payload) : null;
      return account && mail && { to: account.email, language: languageOf(payload), mail };
    };

  return {
    async verification_code(payload) {
      const issued = await emailCodes.find(String(payload['id']));
      if (issued === undefined) return null;
      const { email: to, code, token } = issued;
      const account = await accounts.find(database, { email: to });
      if (account && account.suspendedAt !== null) return null;
      const recipient = { to, userId: account?.id, language: languageOf(payload) };
      if (account?.isVerified) {
        const { username } = account;
        const mail = {
          kind: 'account_exists',
          username,
          loginUrl: `${frontendUrl}/login`,
          resetUrl,
        } as const;
        return { ...recipient, mail };
      }
      const url = `${frontendUrl}/verify-email?${new URLSearchParams({ token })}`;
      const minutes = toMinutes(settings.codeTtl);
      return { ...recipient, mail: { kind: 'verification_code', code, url, minutes } };
    },

    async reset_link(payload) {
      const link = await passwordResets.find(String(payload['id']));
      const account = link && (await accounts.find(database, { email: link.email }));
      if (!link || account?.suspendedAt !== null) return null;
      const { email: to, uid, token } = link;
      const url = `${frontendUrl}/reset-password?${new URLSearchParams({ uid, token })}`;
      const minutes = toMinutes(settings.passwordResetTtl);
      const mail = { kind: 'reset_link', name: account.name, url, minutes } as const;
      return { to, userId: account.id, language: languageOf(payload), mail };
    },

    password_changed: toAccount(({ isVerified, name }, payload) => {
      if (!isVerified) return null;
      const ended = payload['ended'] === 'all' ? 'all' : 'others';
      return { kind: 'password_changed', name, changedAt: changeTimeOf(payload), ended, url: resetUrl };
    }),

    /** To the old address, whatever address the account has now. */
    async email_changed(payload) {
      const change = await undoLinks.find(String(payload['id']));
      const account = change && (await accounts.find(database, { id: change.userId }));
      if (!change || account?.suspendedAt !== null) return null;
      const changedAt = changeTimeOf(payload);
      const url = `${frontendUrl}/undo-email-change?${new URLSearchParams({ token: change.token })}`;
      const newEmail = maskEmail(change.newEmail);
      const mail = { kind: 'email_changed', name: account.name, newEmail, changedAt, url } as const;
      return { to: change.oldEmail, language: languageOf(payload), mail };
    },

    login_method_changed: toAccount(({ isVerified, name }, payload) => {
      if (!isVerified) return null;
      const { change, method, label = '' } = payload as MailPayload & LoginMethodChange;
      const changedAt = changeTimeOf(payload);
      return { kind: 'login_method_changed', name, change, method, label, changedAt, url: resetUrl };
    }),

    /** Obsolete once the consent was withdrawn. */
    marketing_consent: toAccount(({ isVerified, marketingAskedAt, name }, payload) => {
      if (!isVerified || marketingAskedAt === null) return null;
      const givenAt = new Date(Number(payload['given_at']));
      return { kind: 'marketing_consent', name, givenAt, url: `${frontendUrl}/account` };
    }),

    user_id: toAccount(({ name, username }) => ({ kind: 'user_id', name, username })),
  };
}

/** The notice that the password of an account was changed just now, and which sessions ended with it. */
export function passwordChangedNotice(
  userId: number,
  language: Language,
  ended: 'all' | 'others',
): UnrequestedMail {
  const payload = { changed_at: Date.now(), ended, language };
  return { purpose: 'notice', kind: 'password_changed', userId, payload };
}

/** The notice that a way to log in was added or removed just now. */
export function loginMethodNotice(
  userId: number,
  language: Language,
  change: LoginMethodChange,
): UnrequestedMail {
  const payload = { ...change, changed_at: Date.now(), language };
  return { purpose: 'notice', kind: 'login_method_changed', userId, payload };
}

/**
 * As `o***@e***.com`: a user recognises an own address, and others cannot read it. The number of asterisks does not
 * depend on the address.
 */
function maskEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  const topLevel = domain.slice(domain.lastIndexOf('.'));
  return `${local.slice(0, 1)}***@${domain.slice(0, 1)}***${topLevel}`;
}

function changeTimeOf(payload: MailPayload): Date {
  return new Date(Number(payload['changed_at']));
}

function languageOf(payload: MailPayload): Language {
  return payload['language'] === 'en' ? 'en' : 'ko';
}

function toMinutes(seconds: number): number {
  return Math.max(1, Math.round(seconds / 60));
}
