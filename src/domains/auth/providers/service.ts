import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, found, httpErrors } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import { cleanText } from '../../../http/text.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AccountService } from '../accounts/service.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { TokenPairWithUser } from '../schemas.ts';
import { secretsEqual } from '../secrets.ts';
import { flowLifetimes, type LoginFlow } from '../sessions/repository.ts';
import type { LoginAttempt, ProviderClient, ProviderUser } from './clients/openid-connect.ts';
import { type IdentityRow, type ProviderIdentity, tokenContext } from './repository.ts';
import type { FinishedFlow, LoginPurpose, NewUserOfProvider } from './schemas.ts';
import { toIdentity } from './schemas.ts';

const Revocation = Type.Object({ provider: Type.String(), token: Type.String() });

type BegunLogin = { provider: string; purpose: LoginPurpose };
/** The request that finishes a login; the purpose `login` needs no access token, without which there is no `caller`. */
type Finish = FinishedFlow & { providerId: string; caller: CurrentUser | null };

export type ProviderLogin = ReturnType<typeof createProviderLogin>;
/** Logins with providers, and identities. An account is found by issuer and subject, never by an address: it may be another's. */
export function createProviderLogin(auth: AuthContext, signUps: AccountService, providers: ProviderClient[]) {
  const { config, database, accounts, identities, flows, logins, login, confirmation, sealer } = auth;
  const refused = (cause?: Error) => new ApiError(authErrors.providerRefused, { cause });
  const find = (providerId: string) => providers.find(({ id }) => id === providerId);

  const require = (id: string): ProviderClient => found(find(id), authErrors.providerNotFound);

  /** The user of a flow; none for a login. @throws {ApiError} `not_authenticated` */
  function userFor(purpose: LoginPurpose, caller: CurrentUser | null): CurrentUser | undefined {
    return purpose === 'login' ? undefined : found(caller, httpErrors.notAuthenticated);
  }

  function attemptOf(flow: Pick<LoginFlow<unknown>, 'id' | 'keyId'>, provider: ProviderClient): LoginAttempt {
    return {
      state: flows.secret(flow, 'state'),
      nonce: flows.secret(flow, 'nonce'),
      codeVerifier: flows.secret(flow, 'code verifier'),
      redirectUri: `${config.publicUrl}/auth/providers/${provider.id}/callback/`,
    };
  }

  async function start(providerId: string, purpose: LoginPurpose, caller: CurrentUser | null) {
    const user = userFor(purpose, caller);
    const provider = require(providerId);
    // Before the user goes to the provider.
    if (user && purpose === 'link') await confirmation.require(user);
    const flow = await flows.begin(database, 'provider', { user, data: { provider: providerId, purpose } });
    const url = await provider.authorizationUrl(attemptOf(flow, provider));
    return { authorization_url: url.href, flow_token: flow.token, expires_in: flowLifetimes.provider };
  }

  /** Finishes a login. The flow is over before the provider is called, and no transaction waits for it. */
  async function finishLogin(finish: Finish, context: RequestContext) {
    const { providerId, flow_token: token, code, state, caller } = finish;
    const provider = require(providerId);
    const flow = await flows.find<BegunLogin>(database, 'provider', token);
    if (flow?.data.provider !== providerId) throw refused();
    const { purpose } = flow.data;
    const user = userFor(purpose, caller);
    if (user && (flow.userId !== user.id || flow.sessionId !== user.sessionId)) throw refused();
    // Before the flow is over, so that the client can confirm and then finish.
    if (user && purpose === 'link') await confirmation.require(user);
    const attempt = attemptOf(flow, provider);
    if (!secretsEqual(attempt.state, state)) throw refused();
    if (!(await flows.end(database, 'provider', token))) throw refused();

    const identity = readIdentity(providerId, await provider.readUser(attempt, code));
    if (user === undefined) return logIn(identity, context);
    if (purpose === 'link') return add(user, identity, context);
    const owner = await logins.findByIdentity(identity, context.clientAddress);
    if (owner?.id !== user.id) throw refused();
    await identities.use(identity);
    return confirmation.save(user, providerId, context);
  }

  /** What a provider says, in the form of the database. @throws {ApiError} `provider_refused` for a subject that does not fit */
  function readIdentity(provider: string, user: ProviderUser): ProviderIdentity {
    const clean = (rule: 'email' | 'line', value = '') => {
      const cleaned = cleanText(rule, value);
      return 'text' in cleaned && cleaned.text !== '' ? cleaned.text : null;
    };
    const { issuer, subject, refreshToken } = user;
    if (clean('line', subject) !== subject || subject.length > 255) {
      throw refused(new Error(`${provider}: the subject cannot be stored`));
    }
    const email = clean('email', user.email);
    const isEmailProved = email !== null && user.isEmailProved;
    const name = clean('line', user.name?.slice(0, 50));
    const token = refreshToken === undefined ? null : sealer.seal(refreshToken, tokenContext(provider));
    return { provider, issuer, subject, email, isEmailProved, name, token };
  }

  async function logIn(identity: ProviderIdentity, context: RequestContext): Promise<TokenPairWithUser> {
    const account = await logins.findByIdentity(identity, context.clientAddress);
    if (account === undefined) throw await newcomerError(identity);
    await identities.use(identity);
    const loggedIn = await login.startSession(account, { methods: [identity.provider] }, context);
    // The account was changed meanwhile.
    return loggedIn ?? logIn(identity, context);
  }

  /** `link_required` where the provider has proved the address of a verified account, else `sign_up_required`. */
  async function newcomerError(identity: ProviderIdentity): Promise<ApiError> {
    const { email, isEmailProved, name } = identity;
    const proved = { email: email ?? '', isVerified: true };
    const owner = isEmailProved && (await accounts.find(database, proved));
    if (owner) {
      const { token } = await flows.begin(database, 'link', { user: owner, data: identity });
      const data = { link_token: token, expires_in: flowLifetimes.link };
      return new ApiError(authErrors.linkRequired, { data });
    }
    const { token } = await flows.begin(database, 'sign_up', { data: identity });
    const suggested = { name, email, is_email_verified: isEmailProved };
    const data = { sign_up_token: token, expires_in: flowLifetimes.sign_up, suggested };
    return new ApiError(authErrors.signUpRequired, { data });
  }

  /** Creates an account without a password, with the identity of the token. An error does not use the token up. */
  async function signUp({ sign_up_token: token, ...input }: NewUserOfProvider, context: RequestContext) {
    const identity = await database.transaction(async (tx) => {
      const ended = await flows.end<ProviderIdentity>(tx, 'sign_up', token);
      const flow = found(ended, authErrors.signUpTokenInvalid);
      const { issuer, subject } = flow.data;
      // Before the account, whose id a rollback would use up.
      const owner = await accounts.find(tx, { identities: { some: { issuer, subject } } });
      if (owner) throw new ApiError(authErrors.identityTaken);
      const isProved = flow.data.isEmailProved && flow.data.email === input.email;
      const user = await signUps.createAccount(tx, { ...input, passwordHash: null, isProved }, context);
      await addTo(tx, user.id, flow.data);
      return flow.data;
    });
    return logIn(identity, context);
  }

  async function addTo(tx: Tx, userId: number, identity: ProviderIdentity): Promise<IdentityRow> {
    return found(await identities.add(tx, userId, identity), authErrors.identityTaken);
  }

  async function add(user: CurrentUser, identity: ProviderIdentity, context: RequestContext) {
    const change = { user, context, change: 'added', method: 'identity' } as const;
    const { row } = await confirmation.change(change, async (tx) => {
      const row = await addTo(tx, user.id, identity);
      return { row, label: labelOf(row, context) };
    });
    return toIdentity(row);
  }

  /** Adds the identity of a `link_token` to the account whose address it has. */
  async function addByToken(user: CurrentUser, token: string, context: RequestContext) {
    await confirmation.require(user);
    const flow = await flows.find<ProviderIdentity>(database, 'link', token);
    if (flow?.userId !== user.id || !(await flows.end(database, 'link', token))) {
      throw new ApiError(authErrors.linkTokenInvalid);
    }
    return add(user, flow.data, context);
  }

  async function remove(user: CurrentUser, id: number, context: RequestContext): Promise<void> {
    const change = { user, context, change: 'removed', method: 'identity' } as const;
    await confirmation.change(change, async (tx) => {
      const identity = found(await identities.find(tx, user.id, id), authErrors.identityNotFound);
      if (!(await accounts.hasOtherLoginMethod(tx, user.id))) throw new ApiError(authErrors.lastLoginMethod);
      await identities.queueRevocations(tx, user.id, { id });
      await identities.remove(tx, id);
      return { label: labelOf(identity, context) };
    });
  }

  const labelOf = ({ provider }: IdentityRow, { language }: RequestContext) =>
    find(provider)?.name[language] ?? provider;

  /** A job: takes back the consent to a provider, after its identity was removed. @throws until the provider has done it */
  async function revoke(payload: unknown): Promise<void> {
    const { provider, token: sealed } = Value.Parse(Revocation, payload);
    // Without the secret of its time there is nothing to do.
    const token = sealer.unseal(sealed, tokenContext(provider));
    if (token === undefined) return;
    await find(provider)
      ?.revoke?.(token)
      .catch((error: unknown) => {
        // The refresh token ended with the consent (RFC 6749, section 5.2).
        const isOver = error instanceof ApiError && String(error.cause).includes('invalid_grant');
        if (!isOver) throw error;
      });
  }

  const { list } = identities;
  const { frontendUrl } = config;
  return { providers, frontendUrl, start, finishLogin, signUp, list, addByToken, remove, revoke };
}
