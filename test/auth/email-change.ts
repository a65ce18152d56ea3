import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { codeIn, password, type TestApp } from '../support/app.ts';
import { mailsTo } from './mailbox.ts';

/** The token of the link in a notice that undoes a change of e-mail. */
export function undoTokenIn(mail: OutgoingMail | undefined): string {
  const token = /https:\/\/app\.example\.com\/undo-email-change\?token=(\S+)/.exec(mail?.text ?? '')?.[1];
  if (token === undefined) throw new Error('the mail has no link to undo the change');
  return token;
}

/** The operations that change an address. */
export function emailChangeOf(app: TestApp) {
  /** A code that was asked for. */
  async function codeFor(email: string): Promise<string> {
    const skip = (await mailsTo(app, email)).length;
    await app.call('POST', '/auth/email-verify/send/', { body: { email } });
    return codeIn(await app.mails.next(email, skip));
  }

  const change = (token: string, body: Record<string, unknown>) =>
    app.call('POST', '/auth/change-email/', { token, body: { password, ...body } });

  /** Changes the address with a code from the new one. */
  async function changeTo(token: string, email: string): Promise<void> {
    const answer = await change(token, { new_email: email, code: await codeFor(email) });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  return {
    codeFor,
    change,
    changeTo,
    undo: (token: unknown) => app.call('POST', '/auth/change-email/undo/', { body: { token } }),
    me: (token: string) => app.call('GET', '/auth/me/', { token }),
    tryLogin: (username: string, password: string) =>
      app.call('POST', '/auth/login/', { body: { username, password } }),

    /** The token in the newest notice to an address. */
    async undoTokenTo(email: string): Promise<string> {
      const notices = (await mailsTo(app, email)).filter(({ text }) => text.includes('/undo-email-change?'));
      return undoTokenIn(notices.at(-1));
    },
  };
}
