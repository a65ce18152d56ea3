import type { Test } from 'tap';
import type { ResetLinkParts } from '../../src/domains/auth/schemas.ts';
import { type CallOptions, password, type TestApp, type TestResponse } from '../support/app.ts';
import { rejected, tokenRejected } from '../support/assertions.ts';
import { during } from '../support/concurrency.ts';
import { latestCode } from './mailbox.ts';

/** A good password other than the one of `createUser`. */
export const newPassword = 'rice-cake-at-dawn-3';

let emails = 0;
/** An address that no account has. */
export const newEmail = () => `moved${++emails}@new.example.com`;

/** The operations of `/auth/`, of an app or of another instance of it. */
export function accountsOf(app: TestApp) {
  const post = (path: string, body: unknown, options: CallOptions = {}, { call } = app) =>
    call('POST', `/auth/${path}/`, { body, ...options });
  const me = (token: string, { call } = app) => call('GET', '/auth/me/', { token });
  const refresh = (refresh: unknown, at = app) => post('token/refresh', { refresh }, {}, at);
  const changeEmail = (token: string, body: Record<string, unknown>) =>
    post('change-email', { password, ...body }, { token });

  /** Requests a code. @returns the code in the email */
  async function newCode(email: string): Promise<string> {
    await post('email-verify/send', { email });
    return latestCode(app, email);
  }

  return {
    /** A new address, and the code that proves it. */
    async newProof() {
      const new_email = newEmail();
      return { new_email, code: await newCode(new_email) };
    },
    post,
    me,
    refresh,
    changeEmail,
    newCode,
    signUp: (body: unknown, headers: Record<string, string> = {}, at = app) =>
      post('signup', body, { headers }, at),
    tryLogin: (username: unknown, given: unknown = password, at = app) =>
      post('login', { username, password: given }, {}, at),
    logOut: (token: string | undefined, body?: unknown) => post('logout', body, { token }),
    changePassword: (token: string, current_password: unknown, new_password: unknown = newPassword) =>
      post('change-password', { current_password, new_password }, { token }),
    sendCode: (email: unknown, token?: string) => post('email-verify/send', { email }, { token }),
    confirm: (body: object, token?: string) => post('email-verify/confirm', body, { token }),
    requestReset: (email: unknown, headers: Record<string, string> = {}) =>
      post('reset-password-request', { email }, { headers }),
    validateReset: ({ uid, token }: ResetLinkParts, { call } = app) =>
      call('GET', `/auth/reset-password-validate/?${new URLSearchParams({ uid, token })}`),
    confirmReset: ({ uid, token }: ResetLinkParts, new_password: unknown = newPassword) =>
      post('reset-password-confirm', { uid, token, new_password }),
    undoEmailChange: (token: unknown) => post('change-email/undo', { token }),

    isVerified: async (token: string): Promise<boolean> => (await me(token)).body.data.is_verified,

    /** Changes the email with a code. */
    async moveTo(token: string, email: string): Promise<void> {
      const response = await changeEmail(token, { new_email: email, code: await newCode(email) });
      if (response.status !== 200) throw new Error(response.text);
    },

    /** Asserts that a session has ended, on every instance. */
    async ended(t: Test, session: { token: string; refresh: string }, ...others: TestApp[]) {
      for (const instance of [app, ...others]) {
        tokenRejected(t, await me(session.token, instance), 'revoked');
        tokenRejected(t, await refresh(session.refresh, instance), 'revoked', 'refresh');
      }
    },
  };
}

let counter = 0;

/** A valid body of a sign-up, with a new username and email. */
export function signUpBody(
  fields: Record<string, unknown> = {},
): Record<string, unknown> & { username: string; email: string; password: string } {
  counter += 1;
  const [username, email] = [`guest${counter}`, `visitor${counter}@example.com`];
  return { username, email, name: '김두레', password, ...fields };
}

/** Verifies an email with the code that is sent to it. @returns the `verification_token` */
export async function verifyAddress(app: TestApp, email: string): Promise<string> {
  const { newCode, confirm } = accountsOf(app);
  const confirmed = await confirm({ email, code: await newCode(email) });
  if (confirmed.status !== 200) throw new Error(`confirming failed: ${confirmed.text}`);
  return confirmed.body.data.verification_token;
}

/** Asserts `email_taken` with its field. */
export function isTaken(t: Test, response: TestResponse, field: string): void {
  const { message } = response.body;
  const extra = { fields: { [field]: [message] }, errors: [{ field, code: 'taken', message }] };
  rejected(t, response, 409, 'email_taken', extra);
}

/** The statement of a sign-up with an email. */
export function insertUser(email: string): [string, string] {
  const row = `('racer-' || split_part($1::text, '@', 1), $1, 'x', 'x')`;
  return [`INSERT INTO users (username, email, name, password_hash) VALUES ${row}`, email];
}

/** Sends a request that waits for an account, all of whose sessions end meanwhile. */
export function whileSessionsEnd(
  t: Test,
  app: TestApp,
  { id }: { id: number },
  request: () => Promise<TestResponse>,
): Promise<TestResponse> {
  const end = `SELECT FROM users WHERE id = ${id} FOR UPDATE; DELETE FROM sessions WHERE user_id = ${id}`;
  return during(t, app, [end], request);
}

/** A code of six digits that is another one. */
export const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
