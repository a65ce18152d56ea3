import { fromBase64url, toBase64url } from './base64url.ts';
import { notSupported } from './errors.ts';
import {
  finishPasskeyLogin,
  finishPasskeyRegistration,
  startPasskeyLogin,
  startPasskeyRegistration,
} from './generated/operations.ts';
import { throwIfAborted } from './retries.ts';
import type { Call, Output } from './types.ts';

/** The options of `passkeys.register`. */
export interface NewPasskeyOptions {
  /** How the user tells it from others. */
  name?: string;
  signal?: AbortSignal;
}

/** The options of `passkeys.logIn`. */
export interface PasskeyLoginOptions {
  /** Waits until the user chooses a passkey from the autofill of an `<input autocomplete="username webauthn">`. */
  conditional?: boolean;
  signal?: AbortSignal;
}

export interface Passkeys {
  /** Creates a passkey on this device for the account that is signed in. @throws ApiError, or the error of the browser, such as a NotSupportedError */
  register(options?: NewPasskeyOptions): Promise<Output<'finishPasskeyRegistration'>>;
  /** Signs in. @throws ApiError, or the error of the browser */
  logIn(options?: PasskeyLoginOptions): Promise<Output<'finishPasskeyLogin'>>;
}

/** Whether this browser has passkeys. Pages without TLS that are not `localhost` have none. */
export const supportsPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

function requirePasskeys(): void {
  if (!supportsPasskeys()) throw notSupported('Passkeys need a browser, and TLS or `localhost`');
}

type Challenge = Output<'startPasskeyLogin'>['options'];

/** The reason of an abort: the autofill waits for longer than a challenge lives. */
const expired = new Error('The challenge has expired');
/** Milliseconds that a choice in the autofill takes, and its way to the service. */
const margin = 30_000;

/** Asks authenticators for passkeys, with bytes where the service has base64url: the browser does that itself only since 2025. */
export function createPasskeys(call: Call): Passkeys {
  let asking: AbortController | undefined;

  /** A browser asks one at a time: a button ends the autofill. */
  function ask(signal: AbortSignal | undefined): AbortController {
    throwIfAborted(signal);
    asking?.abort();
    const own = new AbortController();
    signal?.addEventListener('abort', () => own.abort(signal.reason), { signal: own.signal });
    asking = own;
    return own;
  }

  async function register({ name, signal }: NewPasskeyOptions = {}) {
    requirePasskeys();
    const { options, flow_token } = await call(startPasskeyRegistration, {}, { signal });
    const { challenge, user, excludeCredentials } = options;
    const created = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: fromBase64url(challenge),
        user: { ...user, id: fromBase64url(user.id) },
        excludeCredentials: excludeCredentials.map(({ type, id }) => ({ type, id: fromBase64url(id) })),
      },
      signal: ask(signal).signal,
    });
    const { response, ...credential } = read(created, AuthenticatorAttestationResponse);
    const key = {
      clientDataJSON: toBase64url(response.clientDataJSON),
      attestationObject: toBase64url(response.attestationObject),
      transports: response.getTransports(),
    };
    const input = { flow_token, name, credential: { ...credential, response: key } };
    return call(finishPasskeyRegistration, input, { signal });
  }

  /** @returns undefined when the challenge has expired while the autofill waited for a choice */
  async function choose(options: Challenge, { conditional, signal }: PasskeyLoginOptions) {
    const own = ask(signal);
    const timer = conditional && setTimeout(() => own.abort(expired), options.timeout - margin);
    try {
      return await navigator.credentials.get({
        publicKey: { ...options, challenge: fromBase64url(options.challenge) },
        signal: own.signal,
        ...(conditional && { mediation: 'conditional' }),
      });
    } catch (error) {
      if (own.signal.reason === expired) return undefined;
      throw error;
    } finally {
      if (timer) clearTimeout(timer);
    }
  }

  async function logIn(login: PasskeyLoginOptions = {}): Promise<Output<'finishPasskeyLogin'>> {
    requirePasskeys();
    const { conditional, signal } = login;
    if (conditional && !(await PublicKeyCredential.isConditionalMediationAvailable?.())) {
      throw notSupported('This browser does not offer passkeys in its autofill');
    }
    const { options, flow_token } = await call(startPasskeyLogin, {}, { signal });
    const chosen = await choose(options, login);
    if (chosen === undefined) return logIn(login);
    const { response, ...credential } = read(chosen, AuthenticatorAssertionResponse);
    const { clientDataJSON, authenticatorData, signature, userHandle } = response;
    const proof = {
      clientDataJSON: toBase64url(clientDataJSON),
      authenticatorData: toBase64url(authenticatorData),
      signature: toBase64url(signature),
      userHandle: toBase64url(userHandle ?? new ArrayBuffer()),
    };
    const input = { flow_token, credential: { ...credential, response: proof } };
    return call(finishPasskeyLogin, input, { signal });
  }

  return { register, logIn };
}

/** What authenticators give in all cases. */
function read<Response extends AuthenticatorResponse>(
  credential: Credential | null,
  type: abstract new () => Response,
) {
  if (!(credential instanceof PublicKeyCredential && credential.response instanceof type)) {
    throw new TypeError('The browser gave no passkey');
  }
  const id = toBase64url(credential.rawId);
  return { id, rawId: id, type: 'public-key' as const, response: credential.response };
}
