import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import { cleanText } from '../../../http/text.ts';
import type { AccountService } from '../accounts/service.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { Confirmation, TokenPairWithUser } from '../schemas.ts';
import { flowLifetimes, type LoginFlow } from '../sessions/flow-repository.ts';
import { secretsEqual } from '../tokens.ts';
import type { LoginAttempt, ProviderClient, ProviderUser } from './clients/openid-connect.ts';
import type { IdentityService } from './identities.ts';
import type { ProviderIdentity } from './repository.ts';
import type { FinishedFlow, Identity, LoginPurpose, NewUserOfProvider, StartedFlow } from './schemas.ts';

interface BegunLogin {
  provider: string;
  purpose: LoginPurpose;
}

/** What the callback page gets, and nothing else that a provider sends (RFC 6749, appendix A). */
const shapes = { code: /^[ -~]{1,2000}$/, state: /^[\w-]{1,200}$/, error: /^\w{1,100}$/ };

/** The request that finishes a login. */
interface Finish {
  providerId: string;
  /** Undefined without an access token, which the purpose `login` needs none of. */
  caller: CurrentUser | undefined;
}

interface Services {
  accounts: AccountService;
  identities: IdentityService;
  providers: readonly ProviderClient[];
}

export type ProviderLogin = ReturnType<typeof createProviderLogin>;

/** Logins with providers. An account is found by issuer and subject, and never by an address, which can be another person's. */
export function createProviderLogin(auth: AuthContext, { providers, ...services }: Services) {
  const { config, database, accounts, identities, flows, logins, login, confirmation } = auth;
  const refused = () => new ApiError(authErrors.providerRefused);

  /** @throws {ApiError} `provider_not_found` */
  function find(id: string): ProviderClient {
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

  function attemptOf(flow: Pick<LoginFlow<unknown>, 'id' | 'keyId'>, provider: ProviderClient): LoginAttempt {
    return {
      state: flows.secret(flow, 'state'),
      nonce: flows.secret(flow, 'nonce'),
      codeVerifier: flows.secret(flow, 'code verifier'),
      redirectUri: `${config.publicUrl}/auth/providers/${provider.id}/callback/`,
    };
  }

  /** @throws {ApiError} `provider_not_found`, `not_authenticated`, `confirmation_required`, `service_unavailable` */
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
    const flow = await flows.begin(database, 'provider', { user, data });
    const url = await provider.authorizationUrl(attemptOf(flow, provider));
    return { authorization_url: url.href, flow_token: flow.token, expires_in: flowLifetimes.provider };
  }

  /** The URL of the page to which the callback sends the browser on, with what the provider sent. */
  function callbackPage(providerId: string, sent: unknown): string {
    const form = new Map<string, unknown>(Object.entries(sent ?? {}));
    const provider = providers.find(({ id }) => id === providerId);
    const page = new URLSearchParams(provider && { provider: provider.id });
    const read = (name: keyof typeof shapes) => {
      const value = form.get(name);
      return typeof value === 'string' && shapes[name].test(value) ? value : undefined;
    };
    const [code, state, error] = [read('code'), read('state'), read('error')];
    if (provider === undefined || code === undefined || state === undefined || error !== undefined) {
      page.set('error', error ?? 'invalid_request');
    } else {
      page.set('code', provider.callbackCode?.(code, form) ?? code);
      page.set('state', state);
    }
    return `${config.frontendUrl}/login/callback?${page}`;
  }

  /** Finishes a login. The flow is over before the provider is called, and no transaction waits for it. @throws {ApiError} */
  async function finishLogin(
    { providerId, flow_token: token, code, state, caller }: FinishedFlow & Finish,
    context: RequestContext,
  ): Promise<{ login: TokenPairWithUser } | { identity: Identity } | { confirmation: Confirmation }> {
    const provider = find(providerId);
    const flow = await flows.lock<BegunLogin>(database, 'provider', token);
    if (flow?.data.provider !== provider.id) throw refused();
    const { purpose } = flow.data;
    const user = userFor(purpose, caller);
    if (user && (flow.userId !== user.id || flow.sessionId !== user.sessionId)) throw refused();
    // Before the flow is over, so that the client can confirm and then finish.
    if (user && purpose === 'link') await confirmation.require(user);
    const attempt = attemptOf(flow, provider);
    if (!secretsEqual(attempt.state, state)) throw refused();
    if (!(await flows.end(database, 'provider', token))) throw refused();

    const identity = readIdentity(provider.id, await provider.readUser(attempt, code));
    if (user === undefined) return { login: await logIn(identity, context) };
    if (purpose === 'link') return { identity: await services.identities.add(user, identity, context) };
    const owner = await logins.findByIdentity(identity, context.clientAddress);
    if (owner?.id !== user.id) throw refused();
    await identities.use(identity);
    return { confirmation: await confirmation.save(user, provider.id, context) };
  }

  /** What a provider says, in the form of the database. @throws {ApiError} `provider_refused` for a subject that does not fit */
  function readIdentity(provider: string, user: ProviderUser): ProviderIdentity {
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
      token: refreshToken === undefined ? null : services.identities.sealToken(provider, refreshToken),
    };
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
    const owner =
      email !== null && isEmailProved ? await accounts.find(database, { email, isVerified: true }) : null;
    if (owner !== null) {
      const { token } = await flows.begin(database, 'link', { user: owner, data: identity });
      const data = { link_token: token, expires_in: flowLifetimes.link };
      return new ApiError(authErrors.linkRequired, { data });
    }
    const { token } = await flows.begin(database, 'sign_up', { data: identity });
    const suggested = { name, email, is_email_verified: isEmailProved };
    const data = { sign_up_token: token, expires_in: flowLifetimes.sign_up, suggested };
    return new ApiError(authErrors.signUpRequired, { data });
  }

  /**
   * Creates an account without a password, with the identity of the token. An error does not use the token up.
   *
   * @throws {ApiError} `sign_up_token_invalid`, `identity_taken`, and as `createAccount`
   */
  async function signUp({ sign_up_token: token, ...input }: NewUserOfProvider, context: RequestContext) {
    const identity = await database.transaction(async (tx) => {
      const flow = await flows.end<ProviderIdentity>(tx, 'sign_up', token);
      if (flow === undefined) throw new ApiError(authErrors.signUpTokenInvalid);
      // Before the account, whose id a rollback would use up.
      if (await identities.isTaken(tx, flow.data)) throw new ApiError(authErrors.identityTaken);
      const isProved = flow.data.isEmailProved && flow.data.email === input.email;
      const account = { ...input, passwordHash: null, isProved };
      const user = await services.accounts.createAccount(tx, account, context);
      await services.identities.addTo(tx, user.id, flow.data);
      return flow.data;
    });
    return logIn(identity, context);
  }

  return { providers, start, callbackPage, finishLogin, signUp };
}
