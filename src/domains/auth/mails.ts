import type { Language } from '../../http/language.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { UnrequestedMail } from '../../infrastructure/mail/queue.ts';
import type { MailComposers, MailPayload } from '../../infrastructure/mail/worker.ts';
import type { AuthRepository } from './repository/index.ts';

/**
 * Composes this domain's emails when they are sent. Accounts are looked up here and not when an email is requested, so that the
 * request takes the same time for every address.
 */
export function authMails(
  { frontendUrl, email: settings }: Pick<Config, 'frontendUrl' | 'email'>,
  database: Database,
  { accounts, emailCodes, passwordResets, undoLinks }: AuthRepository,
): MailComposers {
  return {
    async verification_code(payload) {
      const issued = await emailCodes.find(String(payload['id']));
      if (issued === undefined) return null;
      const account = await accounts.findByEmail(database, issued.email);
      if (account && account.suspendedAt !== null) return null;
      const recipient = { to: issued.email, userId: account?.id, language: languageOf(payload) };
      if (!account?.isVerified) {
        const { code, token } = issued;
        const url = `${frontendUrl}/verify-email?${new URLSearchParams({ token })}`;
        return {
          ...recipient,
          mail: { kind: 'verification_code', code, url, minutes: toMinutes(settings.codeTtl) },
        };
      }
      const urls = { loginUrl: `${frontendUrl}/login`, resetUrl: `${frontendUrl}/reset-password-request` };
      return { ...recipient, mail: { kind: 'account_exists', username: account.username, ...urls } };
    },

    async reset_link(payload) {
      const link = await passwordResets.find(String(payload['id']));
      const account = link && (await accounts.findByEmail(database, link.email));
      if (!link || !account || account.suspendedAt !== null) return null;
      const query = new URLSearchParams({ uid: link.uid, token: link.token });
      return {
        to: link.email,
        userId: account.id,
        language: languageOf(payload),
        mail: {
          kind: 'reset_link',
          name: account.name,
          url: `${frontendUrl}/reset-password?${query}`,
          minutes: toMinutes(settings.passwordResetTtl),
        },
      };
    },

    async password_changed(payload) {
      const account = await accounts.findById(database, Number(payload['user_id']));
      if (account === null || account.suspendedAt !== null || !account.isVerified) return null;
      const changedAt = new Date(Number(payload['changed_at']));
      const mail = { kind: 'password_changed', name: account.name, changedAt } as const;
      return { to: account.email, language: languageOf(payload), mail };
    },

    /** To the old address, whatever address the account has now. */
    async email_changed(payload) {
      const change = await undoLinks.find(String(payload['id']));
      const account = change && (await accounts.findById(database, Number(payload['user_id'])));
      if (!change || !account || account.suspendedAt !== null) return null;
      return {
        to: change.oldEmail,
        language: languageOf(payload),
        mail: {
          kind: 'email_changed',
          name: account.name,
          newEmail: maskEmail(change.newEmail),
          changedAt: new Date(Number(payload['changed_at'])),
          url: `${frontendUrl}/undo-email-change?${new URLSearchParams({ token: change.token })}`,
        },
      };
    },

    async user_id(payload) {
      const account = await accounts.findById(database, Number(payload['user_id']));
      if (account === null || account.suspendedAt !== null) return null;
      const { name, username } = account;
      return { to: account.email, language: languageOf(payload), mail: { kind: 'user_id', name, username } };
    },
  };
}

/** The notice that the password of an account was changed just now. */
export function passwordChangedNotice(userId: number, language: Language): UnrequestedMail {
  return {
    purpose: 'notice',
    kind: 'password_changed',
    userId,
    payload: { changed_at: Date.now(), language },
  };
}

/** The notice to the current address of an account that it is about to change; `undoId` is that of the link which undoes it. */
export function emailChangedNotice(userId: number, undoId: string, language: Language): UnrequestedMail {
  return {
    purpose: 'email_change',
    kind: 'email_changed',
    userId,
    payload: { id: undoId, changed_at: Date.now(), language },
  };
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

function languageOf(payload: MailPayload): Language {
  return payload['language'] === 'en' ? 'en' : 'ko';
}

function toMinutes(seconds: number): number {
  return Math.max(1, Math.round(seconds / 60));
}
