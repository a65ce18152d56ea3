import type { Language } from '../http/language.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../mail/worker.ts';
import type { AuthDependencies } from './dependencies.ts';

/**
 * Composes this domain's mails when they are sent. An account is looked up here and not when the mail is asked for, so that
 * the request takes the same time for every address.
 */
export function authMails({
  config,
  database: { client },
  accounts,
  emailCodes,
  passwordResets,
}: Pick<
  AuthDependencies,
  'config' | 'database' | 'accounts' | 'emailCodes' | 'passwordResets'
>): MailComposers {
  const { frontendUrl, email: settings } = config;

  async function verificationCode(payload: MailPayload): Promise<ComposedMail | null> {
    const issued = await emailCodes.find(client, text(payload, 'id'));
    if (issued === undefined) return null;
    const account = await accounts.findByEmail(client, issued.email);
    const to = { to: issued.email, language: languageOf(payload) };
    if (!account?.is_verified) {
      return {
        ...to,
        mail: { kind: 'verification_code', code: issued.code, minutes: minutes(settings.codeTtl) },
      };
    }
    const urls = { loginUrl: `${frontendUrl}/login`, resetUrl: `${frontendUrl}/reset-password-request` };
    return { ...to, mail: { kind: 'account_exists', username: account.username, ...urls } };
  }

  async function resetLink(payload: MailPayload): Promise<ComposedMail | null> {
    const link = await passwordResets.find(client, text(payload, 'id'));
    const account = link && (await accounts.findByEmail(client, link.email));
    if (!link || !account) return null;
    const query = new URLSearchParams({ uid: link.uid, token: link.token });
    return {
      to: link.email,
      language: languageOf(payload),
      mail: {
        kind: 'reset_link',
        name: account.name,
        url: `${frontendUrl}/reset-password?${query}`,
        minutes: minutes(settings.passwordResetTtl),
      },
    };
  }

  async function passwordChanged(payload: MailPayload): Promise<ComposedMail | null> {
    const account = await accounts.findById(client, Number(payload['user_id']));
    if (account === undefined) return null;
    const changedAt = new Date(Number(payload['changed_at']));
    return {
      to: account.email,
      language: languageOf(payload),
      mail: { kind: 'password_changed', name: account.name, changedAt },
    };
  }

  async function userId(payload: MailPayload): Promise<ComposedMail | null> {
    const account = await accounts.findByEmail(client, text(payload, 'email'));
    if (account === undefined) return null;
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

function text(payload: MailPayload, name: string): string {
  return String(payload[name]);
}

function languageOf(payload: MailPayload): Language {
  return payload['language'] === 'en' ? 'en' : 'ko';
}

function minutes(seconds: number): number {
  return Math.max(1, Math.round(seconds / 60));
}
