import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { PasskeyRow } from './repository.ts';
import type { NewPasskey, PasskeyLogin } from './schemas.ts';
import { createWebauthn } from './webauthn.ts';

const maxPasskeys = 10;
const defaultName = { ko: '패스키', en: 'Passkey' };

/** Adds and removes the passkeys of an account, and logs in with them. */
export function createPasskeys(auth: AuthContext) {
  const { database, accounts, passkeys, logins, flows, login, confirmation } = auth;
  const webauthn = createWebauthn(auth.config);

  async function startRegistration(user: CurrentUser) {
    await confirmation.require(user);
    const existing = await passkeys.list(user.id, { after: undefined, limit: maxPasskeys });
    if (existing.length === maxPasskeys) throw new ApiError(authErrors.tooManyPasskeys);
    const flow = await flows.begin(database, 'passkey_registration', { user });
    const challenge = flows.secret(flow, 'challenge');
    return { options: webauthn.registrationOptions(user, challenge, existing), flow_token: flow.token };
  }

  async function finishRegistration(user: CurrentUser, input: NewPasskey, context: RequestContext) {
    const { flow_token: token, credential, name } = input;
    // Before the flow is over, so that the user can confirm and then finish.
    await confirmation.require(user);
    const flow = await flows.end(database, 'passkey_registration', token);
    if (flow?.sessionId !== user.sessionId) throw new ApiError(authErrors.passkeyRefused);
    const verified = await webauthn
      .verifyRegistration(credential, flows.secret(flow, 'challenge'))
      .catch((cause: unknown) => {
        throw new ApiError(authErrors.passkeyRefused, { cause });
      });
    const passkey = { userId: user.id, name: name ?? defaultName[context.language], ...verified };
    const change = { user, context, change: 'added', method: 'passkey' } as const;
    const { row } = await confirmation.change(change, async (tx) => {
      if ((await passkeys.count(tx, user.id)) >= maxPasskeys) throw new ApiError(authErrors.tooManyPasskeys);
      const row = await passkeys.add(tx, passkey);
      if (row === undefined) throw new ApiError(authErrors.passkeyRefused);
      return { row, label: row.name };
    });
    return row;
  }

  async function rename(userId: number, id: number, name: string): Promise<PasskeyRow> {
    const renamed = await passkeys.rename(userId, id, name);
    if (renamed === undefined) throw new ApiError(authErrors.passkeyNotFound);
    return renamed;
  }

  async function remove(user: CurrentUser, id: number, context: RequestContext): Promise<void> {
    const change = { user, context, change: 'removed', method: 'passkey' } as const;
    await confirmation.change(change, async (tx) => {
      const hasOther = await accounts.hasOtherLoginMethod(tx, user.id);
      const label = await passkeys.remove(tx, user.id, id);
      if (label === undefined) throw new ApiError(authErrors.passkeyNotFound);
      if (!hasOther) throw new ApiError(authErrors.lastLoginMethod);
      return { label };
    });
  }

  /** The same for everyone, so that it tells nothing about accounts. */
  async function startLogin() {
    const flow = await flows.begin(database, 'passkey_login');
    const challenge = flows.secret(flow, 'challenge');
    return { options: webauthn.loginOptions(challenge), flow_token: flow.token };
  }

  async function finishLogin({ flow_token: token, credential }: PasskeyLogin, context: RequestContext) {
    const flow = await flows.end(database, 'passkey_login', token);
    const passkey = await passkeys.find(credential.id);
    const reject = (event: 'login_failed' | 'passkey_refused', cause?: unknown) => {
      context.logSecurityEvent(event, { id: passkey?.userId });
      return new ApiError(authErrors.passkeyRejected, { cause });
    };
    if (flow === undefined || passkey === null) throw reject('login_failed');
    const use = await webauthn
      .verifyLogin(credential, passkey, flows.secret(flow, 'challenge'))
      .catch((cause: unknown) => {
        throw reject('login_failed', cause);
      });
    if (!(await passkeys.use(passkey.id, use))) throw reject('passkey_refused');
    const account = await logins.findByPasskey(passkey.id, context.clientAddress);
    const loggedIn = account && (await login.startSession(account, { methods: ['passkey'] }, context));
    if (loggedIn === undefined) throw reject('login_failed');
    return loggedIn;
  }

  const { list } = passkeys;
  return { list, startRegistration, finishRegistration, rename, remove, startLogin, finishLogin };
}
