import { isApiError, notSupported } from './errors.ts';
import { finishProviderLogin, startProviderLogin } from './generated/operations.ts';
import type { Call, Input, Output } from './types.ts';

/** A login with a provider, as it was begun. */
export interface LoginWithOptions {
  /** `link` connects the provider with the account that is signed in, `confirm` confirms who is there; `login` without it. */
  purpose?: Input<'startProviderLogin'>['purpose'];
  /** Where the user goes afterwards: a path of this origin, which `finishLoginWith` gives back. */
  returnTo?: string;
  /** Leaves the page; `location.assign` without it. */
  navigate?: (url: string) => void;
}

type Login = Extract<Output<'finishProviderLogin'>, { user: unknown }>;
type Identity = Extract<Output<'finishProviderLogin'>, { provider: unknown }>;

/** How a login with a provider ended. */
export type LoginWithResult = { returnTo: string | undefined } & (
  | { status: 'logged_in'; user: Login['user'] }
  | { status: 'sign_up_required'; token: string; suggested: Suggested }
  | { status: 'link_required'; token: string }
  | { status: 'second_factor_required'; token: string; methods: string[] }
  | { status: 'linked'; identity: Identity }
  | { status: 'confirmed'; until: string }
);

interface Suggested {
  name: string | null;
  email: string | null;
  is_email_verified: boolean;
}

/** A login with a provider ended before the service could verify it. */
export class LoginWithError extends Error {
  override readonly name = 'LoginWithError';
  /** `not_started`: this tab has not begun the login, or it is over. */
  readonly code: 'declined' | 'failed' | 'not_started';

  constructor(code: LoginWithError['code'], detail: string) {
    super(`The login with the provider ended: ${detail}`);
    this.code = code;
  }
}

/** What the tab that begins keeps, so that no other tab or browser can finish. */
interface Flow {
  provider: string;
  flow_token: string;
  returnTo?: string;
}

const key = 'dure.flow';

/** What providers say when the user does not agree; the second is that of Apple. */
const refusals = ['access_denied', 'user_cancelled_authorize'];

export interface LoginWith {
  /** Begins a login with a provider and leaves the page. @throws ApiError, TypeError for a `returnTo` of another origin, or a NotSupportedError outside of a browser */
  loginWith(provider: string, options?: LoginWithOptions): Promise<void>;
  /** Finishes it on the callback page, once. @throws LoginWithError, ApiError */
  finishLoginWith(url?: string): Promise<LoginWithResult>;
}

export function createLoginWith(call: Call): LoginWith {
  return {
    loginWith: (provider, options) => begin(call, provider, options),
    finishLoginWith: async (url) => finish(call, url),
  };
}

/** @throws NotSupportedError outside of a browser, or the error of one that blocks storage */
function tabStorage(): Storage {
  const { sessionStorage, location } = globalThis;
  if (sessionStorage && location) return sessionStorage;
  throw notSupported('A login with a provider needs a browser; a server begins with `startProviderLogin`');
}

async function begin(
  call: Call,
  provider: string,
  { purpose = 'login', returnTo, navigate = (url) => location.assign(url) }: LoginWithOptions = {},
): Promise<void> {
  const kept = tabStorage();
  if (returnTo !== undefined && new URL(returnTo, location.href).origin !== location.origin) {
    throw new TypeError('`returnTo` must be a path of this origin');
  }
  const { authorization_url, flow_token } = await call(startProviderLogin, { provider, purpose });
  kept.setItem(key, JSON.stringify({ provider, flow_token, returnTo }));
  navigate(authorization_url);
}

async function finish(call: Call, given: string | undefined): Promise<LoginWithResult> {
  const kept = tabStorage();
  const url = given ?? location.href;
  const { searchParams } = new URL(url);
  // Neither the history nor a referrer keeps the code.
  if (url === location.href) history.replaceState(history.state, '', location.pathname);
  const flow: Flow | null = JSON.parse(kept.getItem(key) ?? 'null');
  kept.removeItem(key);
  const [code, state, error] = ['code', 'state', 'error'].map((name) => searchParams.get(name));
  if (error) throw new LoginWithError(refusals.includes(error) ? 'declined' : 'failed', error);
  if (!flow || !code || !state || flow.provider !== searchParams.get('provider')) {
    throw new LoginWithError('not_started', 'it was not begun in this tab');
  }
  const { provider, flow_token, returnTo } = flow;
  return { returnTo, ...(await exchange(call, { provider, flow_token, code, state })) };
}

type DistributiveOmit<Type, Key extends string> = Type extends unknown ? Omit<Type, Key> : never;

async function exchange(
  call: Call,
  input: Input<'finishProviderLogin'>,
): Promise<DistributiveOmit<LoginWithResult, 'returnTo'>> {
  try {
    const data = await call(finishProviderLogin, input);
    if ('user' in data) return { status: 'logged_in', user: data.user };
    if ('confirmed_until' in data) return { status: 'confirmed', until: data.confirmed_until };
    return { status: 'linked', identity: data };
  } catch (error) {
    if (!isApiError(error, 'finishProviderLogin')) throw error;
    const { data } = error;
    switch (data.code) {
      case 'sign_up_required':
        return { status: data.code, token: data.sign_up_token, suggested: data.suggested };
      case 'link_required':
        return { status: data.code, token: data.link_token };
      case 'second_factor_required':
        return { status: data.code, token: data.second_factor_token, methods: data.methods };
      default:
        throw error;
    }
  }
}
