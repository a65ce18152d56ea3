import type { Language } from '../http/language.ts';
import type { UnrequestedMail } from '../mail/queue.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../mail/worker.ts';
import type { AuthDependencies } from './dependencies.ts';

/**
 * Composes this domain's mails when they are sent. Accounts are looked up here and not when a mail is requested, so that the
 * request takes the same time for every address.
 */
export function authMails(dependencies: AuthDependencies): MailComposers {
  const { config, database, accounts, emailCodes, passwordResets } = dependencies;
  const { frontendUrl, email: settings } = config;

  async function verificationCode(payload: MailPayload): Promise<ComposedMail | null> {
    const issued = await emailCodes.find(database, String(payload['id']));
    if (issued === undefined) return null;
    const account = await accounts.findByEmail(database, issued.email);
    if (account && account.suspendedAt !== null) return null;
    const recipient = { to: issued.email, userId: account?.id, language: languageOf(payload) };
    if (!account?.isVerified) {
      const mail = {
        kind: 'verification_code',
        code: issued.code,
        minutes: toMinutes(settings.codeTtl),
      } as const;
      // Names the account that the code verifies, because a stranger may have signed up with the address.
      const isVerifiedByCode = account?.id === (issued.userId ?? payload['user_id']);
      return {
        ...recipient,
        mail: account && isVerifiedByCode ? { ...mail, username: account.username } : mail,
      };
    }
    const urls = { loginUrl: `${frontendUrl}/login`, resetUrl: `${frontendUrl}/reset-password-request` };
    return { ...recipient, mail: { kind: 'account_exists', username: account.username, ...urls } };
  }

  async function resetLink(payload: MailPayload): Promise<ComposedMail | null> {
    const link = await passwordResets.find(database, String(payload['id']));
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
  }

  async function passwordChanged(payload: MailPayload): Promise<ComposedMail | null> {
    const account = await accounts.findById(database, Number(payload['user_id']));
    if (account === null || account.suspendedAt !== null || !account.isVerified) return null;
    const changedAt = new Date(Number(payload['changed_at']));
    const mail = { kind: 'password_changed', name: account.name, changedAt } as const;
    return { to: account.email, language: languageOf(payload), mail };
  }

  async function userId(payload: MailPayload): Promise<ComposedMail | null> {
    const account = await accounts.findById(database, Number(payload['user_id']));
    if (account === null || account.suspendedAt !== null) return null;
    const { name, username } = account;
    return { to: account.email, language: languageOf(payload), mail: { kind: 'user_id', name, username } };
  }

  return {
    verification_code: verificationCode,
    reset_link: resetLink,
    password_changed: passwordChanged,
    user_id: userId,
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

function languageOf(payload: MailPayload): Language {
  return payload['language'] === 'en' ? 'en' : 'ko';
}

function toMinutes(seconds: number): number {
  return Math.max(1, Math.round(seconds / 60));
}
