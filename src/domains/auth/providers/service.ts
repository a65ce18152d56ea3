import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import { cleanText } from '../../../http/text.ts';
import type { AccountOptions, AccountService } from '../accounts/service.ts';
import type { AuthRepository } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { Confirmation, TokenPairWithUser } from '../schemas.ts';
import type { ConfirmationService } from '../sessions/confirmation.ts';
import { flowLifetimes, type LoginFlow } from '../sessions/flow-repository.ts';
import type { Login } from '../sessions/service.ts';
import { secretsEqual } from '../tokens.ts';
import type { LoginAttempt, LoginProvider, ProviderUser } from './clients/openid-connect.ts';
import type { IdentityService, NewIdentity } from './identities.ts';
import type { FinishedFlow, Identity, LoginPurpose, NewUserOfProvider, StartedFlow } from './schemas.ts';

interface BegunLogin {
  provider: string;
  purpose: LoginPurpose;
}

export type ProviderLogin = ReturnType<typeof createProviderLogin>;

/**
 * Logins with providers. An account is found by the issuer and the subject of an identity, and never by an address, which can be
 * another person's.
 */
export function createProviderLogin(
  { config, database }: AccountOptions,
  { accounts, identities, loginFlows, logins }: AuthRepository,
  login: Login,
  confirmation: ConfirmationService,
  accountService: AccountService,
  identityService: IdentityService,
  providers: readonly LoginProvider[],
) {
  const refused = () => new ApiError(authErrors.providerRefused);

  /** @throws {ApiError} `provider_not_found` */
  function find(id: string): LoginProvider {
    const provider = providers.find((one) => one.id === id);
    if (provider === undefined) throw new ApiError(authErrors.providerNotFound);
    return provider;
  }

  /** The user of a flow; none for a login. @throws {ApiError} `not_authenticated` */
  function userFor(purpose: LoginPurpose, caller: CurrentUser | undefined): CurrentUser | undefined {
    if (purpose === 'login') return undefined;
    if (caller === undefined) throw new ApiError(httpErrors.notAuthenticated);
    return caller;
  }

  function attemptOf(flow: Pick<LoginFlow<unknown>, 'id' | 'keyId'>, provider: LoginProvider): LoginAttempt {
    return {
      state: loginFlows.secret(flow, 'state'),
      nonce: loginFlows.secret(flow, 'nonce'),
      codeVerifier: loginFlows.secret(flow, 'code verifier'),
      redirectUri: `${config.publicUrl}/auth/providers/${provider.id}/callback/`,
    };
  }

  /**
   * Begins a login at a provider.
   *
   * @param caller undefined without an access token
   * @throws {ApiError} `provider_not_found`, `not_authenticated`, `confirmation_required`, `service_unavailable`
   */
  async function start(
    providerId: string,
    purpose: LoginPurpose,
    caller: CurrentUser | undefined,
  ): Promise<StartedFlow> {
    const provider = find(providerId);
    const user = userFor(purpose, caller);
    // Before the user goes to the provider.
    if (user && purpose === 'link') await confirmation.require(user);
    const data: BegunLogin = { provider: provider.id, purpose };
    const flow = await loginFlows.begin(database, 'provider', { ...user, data });
    const url = await provider.authorizationUrl(attemptOf(flow, provider));
    return { authorization_url: url.href, flow_token: flow.token, expires_in: flowLifetimes.provider };
  }

  /**
   * Finishes a login at a provider. The flow is over before the provider is called, whatever it says. No transaction waits for a
   * provider.
   *
   * @param caller undefined without an access token, which the purpose `login` needs none of
   * @throws {ApiError} those of the operation
   */
  async function finish(
    providerId: string,
    { flow_token: token, code, state }: FinishedFlow,
    caller: CurrentUser | undefined,
    context: RequestContext,
  ): Promise<{ login: TokenPairWithUser } | { identity: Identity } | { confirmation: Confirmation }> {
    const provider = find(providerId);
    const flow = await loginFlows.lock<BegunLogin>(database, 'provider', token);
    if (flow?.data.provider !== provider.id) throw refused();
    const { purpose } = flow.data;
    const user = userFor(purpose, caller);
    if (user && (flow.userId !== user.id || flow.sessionId !== user.sessionId)) throw refused();
    // Before the flow is over, so that the client can confirm and then finish.
    if (user && purpose === 'link') await confirmation.require(user);
    const attempt = attemptOf(flow, provider);
    if (!secretsEqual(attempt.state, state)) throw refused();
    if (!(await loginFlows.finish(database, 'provider', token))) throw refused();

    const identity = readIdentity(provider.id, await provider.finish(attempt, code));
    if (user === undefined) return { login: await logIn(identity, context) };
    if (purpose === 'link') return { identity: await identityService.add(user, identity, context) };
    const owner = await logins.findBy(identities.ownerOf(identity), context.clientAddress);
    if (owner?.id !== user.id) throw refused();
    await identities.use(identity);
    return { confirmation: await confirmation.save(user, provider.id, context) };
  }

  /** What a provider says, in the form of the database. @throws {ApiError} `provider_refused` for a subject that does not fit */
  function readIdentity(provider: string, user: ProviderUser): NewIdentity {
    const clean = (rule: 'email' | 'line', value = '') => {
      const cleaned = cleanText(rule, value);
      return 'text' in cleaned && cleaned.text !== '' ? cleaned.text : null;
    };
    const { issuer, subject, refreshToken } = user;
    if (clean('line', subject) !== subject || subject.length > 255) throw refused();
    const email = clean('email', user.email);
    return {
      provider,
      issuer,
      subject,
      email,
      isEmailProved: email !== null && user.isEmailProved,
      name: clean('line', user.name?.slice(0, 50)),
      token: refreshToken === undefined ? null : identityService.sealToken(provider, refreshToken),
    };
  }

  async function logIn(identity: NewIdentity, context: RequestContext): Promise<TokenPairWithUser> {
    const account = await logins.findBy(identities.ownerOf(identity), context.clientAddress);
    if (account === undefined) throw await newcomerError(identity);
    await identities.use(identity);
    const finished = await login.finish(account, { methods: [identity.provider] }, context);
    // The account was changed meanwhile.
    return finished ?? logIn(identity, context);
  }

  /** `link_required` where the provider has proved the address of a verified account, else `sign_up_required`. */
  async function newcomerError(identity: NewIdentity): Promise<ApiError> {
    const { email, isEmailProved, name } = identity;
    const owner =
      email !== null && isEmailProved ? await accounts.find(database, { email, isVerified: true }) : null;
    if (owner !== null) {
      const { token } = await loginFlows.begin(database, 'link', { userId: owner.id, data: identity });
      const data = { link_token: token, expires_in: flowLifetimes.link };
      return new ApiError(authErrors.linkRequired, { data });
    }
    const { token } = await loginFlows.begin(database, 'sign_up', { data: identity });
    const suggested = { name, email, is_email_verified: isEmailProved };
    const data = { sign_up_token: token, expires_in: flowLifetimes.sign_up, suggested };
    return new ApiError(authErrors.signUpRequired, { data });
  }

  /**
   * Creates an account without a password, with the identity of the token. An error does not use the token up.
   *
   * @throws {ApiError} `sign_up_token_invalid`, `identity_taken`, and as {@link AccountService.createAccount}
   */
  async function signUp({ sign_up_token: token, ...input }: NewUserOfProvider, context: RequestContext) {
    const { created, identity } = await database.transaction(async (tx) => {
      const flow = await loginFlows.finish<NewIdentity>(tx, 'sign_up', token);
      if (flow === undefined) throw new ApiError(authErrors.signUpTokenInvalid);
      // Before the account, whose id a rollback would use up.
      if (await identities.isTaken(tx, flow.data)) throw new ApiError(authErrors.identityTaken);
      const { isEmailProved, email } = flow.data;
      const credentials = { passwordHash: null, isProved: isEmailProved && email === input.email };
      const created = await accountService.createAccount(tx, input, credentials, context);
      await identityService.addTo(tx, created.user.id, flow.data);
      return { created, identity: flow.data };
    });
    accountService.logCreated(created, context);
    return logIn(identity, context);
  }

  return { providers, start, finish, signUp };
}
