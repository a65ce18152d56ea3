import { TOTP } from 'otpauth';
import { createUser, type TestApp } from '../support/app.ts';
import { accountsOf } from './accounts.ts';

/** The codes of an authenticator app. */
export interface Authenticator {
  /**
   * @param step counted from the current one. Those from -1 to 1 are accepted, and in the next step those from 0 to 2: only where
   *   that matters the clock has to be stopped
   */
  code(step?: number): string;
  /** A code of none of the steps around the current one. */
  wrong(): string;
}

/** An authenticator app with a secret in base32. */
export function authenticatorOf(secret: string): Authenticator {
  const totp = new TOTP({ secret });
  const codeOf = (step: number) => totp.generate({ timestamp: Date.now() + step * 30_000 });
  return {
    code: (step = 0) => codeOf(step),
    wrong() {
      const near = [-3, -2, -1, 0, 1, 2, 3].map(codeOf);
      return ['740913', '740914', '740915', '740916', '740917', '740918', '740919', '740920'].find(
        (code) => !near.includes(code),
      ) as string;
    },
  };
}

/** A code as a keyboard for Korean, a web page or a mail may give it. */
export const asPasted = (code: string) =>
  `\u202a${code.slice(0, 3)} - ${code.slice(3).replace(/\d/g, (digit) => String.fromCodePoint(digit.charCodeAt(0) + 0xfee0))}\u202c`;

/** Lets codes be used again, so that no test waits for the next one. */
export async function forgetSteps({ pool }: TestApp, { id }: { id: number }): Promise<void> {
  await pool.query("UPDATE second_factors SET used_steps = '{}' WHERE user_id = $1", [id]);
}

/** The operations of the second factor, of an app or of another instance of it. */
export function secondFactorOf(app: TestApp) {
  const { post, tryLogin } = accountsOf(app);
  const begin = (token: string) => post('second-factor/totp', undefined, { token });
  const confirm = (token: string, code: string) => post('second-factor/totp/confirm', { code }, { token });

  /** Switches the second factor of a user on. @returns its app and the recovery codes */
  async function switchOn(user: { id: number; token: string }) {
    const begun = await begin(user.token);
    const authenticator = authenticatorOf(begun.body.data.secret);
    const confirmed = await confirm(user.token, authenticator.code());
    if (confirmed.status !== 200) throw new Error(confirmed.text);
    await forgetSteps(app, user);
    return { ...authenticator, recoveryCodes: confirmed.body.data.recovery_codes as string[] };
  }

  return {
    begin,
    confirm,
    switchOn,
    status: (token: string) => app.call('GET', '/auth/second-factor/', { token }),
    newRecoveryCodes: (token: string) => post('second-factor/recovery-codes', undefined, { token }),
    remove: (token: string) => app.call('DELETE', '/auth/second-factor/totp/', { token }),
    confirmUser: (token: string, body: object) => post('confirm', body, { token }),
    finishLogin: (second_factor_token: string, code: string, remoteAddress = '127.0.0.1') =>
      post('login/second-factor', { second_factor_token, code }, { remoteAddress }),

    /** Logs in as far as the password goes. @returns the `second_factor_token` */
    async firstFactor({ username }: { username: string }): Promise<string> {
      const response = await tryLogin(username);
      const token = response.body.data.second_factor_token;
      if (typeof token !== 'string') throw new Error(`no second factor is asked for: ${response.text}`);
      return token;
    },

    /** A user whose second factor is on, with its app. */
    async createProtected() {
      const user = await createUser(app);
      return { ...user, ...(await switchOn(user)) };
    },
  };
}

/** Makes the login of all sessions of a user too old for what needs a confirmation. */
export async function passConfirmation({ pool }: TestApp, { id }: { id: number }): Promise<void> {
  await pool.query(
    `UPDATE sessions SET created_at = created_at - interval '10 minutes 1 second',
       confirmed_at = confirmed_at - interval '10 minutes 1 second' WHERE user_id = $1`,
    [id],
  );
}
