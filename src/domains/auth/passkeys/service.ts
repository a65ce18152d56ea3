import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, found } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Passkey as PasskeyRow } from '../../../infrastructure/database/generated/client.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import { flowLifetimes } from '../sessions/repository.ts';
import * as schemas from './schemas.ts';

const maxPasskeys = 10;
/** Milliseconds for a registration or a login. */
const timeout = flowLifetimes.passkey_login * 1000;
/** ES256, EdDSA and RS256 by their numbers in COSE. */
const coseAlgorithms = [-7, -8, -257];
const type = 'public-key' as const;
const userVerification = 'required' as const;
const defaultName = { ko: '패스키', en: 'Passkey' };

/** The library takes 0.3 s and 30 MB, so it is loaded where the first passkey is verified. */
const load = async () => ({
  ...(await import('@simplewebauthn/server')),
  ...(await import('@simplewebauthn/server/helpers')),
});

/** Adds and removes the passkeys of an account, and logs in with them (Web Authentication Level 3, sections 7.1 and 7.2). */
export function createPasskeys(auth: AuthContext) {
  const { database, accounts, passkeys, logins, flows, login, confirmation } = auth;
  const { frontendUrl, corsOrigins, passkeyOrigins } = auth.config;
  const { hostname: rpId, origin } = new URL(frontendUrl);
  const expected = {
    expectedRPID: rpId,
    expectedOrigin: [origin, ...corsOrigins, ...passkeyOrigins],
    requireUserVerification: true,
  };

  async function startRegistration(user: CurrentUser) {
    await confirmation.require(user);
    const existing = await passkeys.list(user.id, { after: undefined, limit: maxPasskeys });
    if (existing.length === maxPasskeys) throw new ApiError(authErrors.tooManyPasskeys);
    const flow = await flows.begin(database, 'passkey_registration', { user });
    const options: schemas.RegistrationOptions = {
      challenge: flows.secret(flow, 'challenge'),
      timeout,
      rp: { id: rpId, name: 'Dure' },
      user: { id: userHandleOf(user.id), name: user.username, displayName: user.name },
      pubKeyCredParams: coseAlgorithms.map((alg) => ({ type, alg })),
      excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ type, id, transports })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification },
      attestation: 'none',
    };
    return { options, flow_token: flow.token };
  }

  async function finishRegistration(user: CurrentUser, input: schemas.NewPasskey, context: RequestContext) {
    const { flow_token: token, credential, name } = input;
    // Before the flow is over, so that the user can confirm and then finish.
    await confirmation.require(user);
    const flow = await flows.end(database, 'passkey_registration', token);
    if (flow?.sessionId !== user.sessionId) throw new ApiError(authErrors.passkeyRefused);
    const challenge = flows.secret(flow, 'challenge');
    const verified = await verifyRegistration(credential, challenge).catch((cause: unknown) => {
      throw new ApiError(authErrors.passkeyRefused, { cause });
    });
    const passkey = { userId: user.id, name: name ?? defaultName[context.language], ...verified };
    const change = { user, context, change: 'added', method: 'passkey' } as const;
    const { row } = await confirmation.change(change, async (tx) => {
      if ((await passkeys.count(tx, user.id)) >= maxPasskeys) throw new ApiError(authErrors.tooManyPasskeys);
      const row = found(await passkeys.add(tx, passkey), authErrors.passkeyRefused);
      return { row, label: row.name };
    });
    return schemas.toPasskey(row);
  }

  async function rename(user: CurrentUser, id: number, changes: { name: string }) {
    await confirmation.require(user);
    const renamed = await passkeys.rename(user.id, id, changes);
    return schemas.toPasskey(found(renamed, authErrors.passkeyNotFound));
  }

  async function remove(user: CurrentUser, id: number, context: RequestContext): Promise<void> {
    const change = { user, context, change: 'removed', method: 'passkey' } as const;
    await confirmation.change(change, async (tx) => {
      const hasOther = await accounts.hasOtherLoginMethod(tx, user.id);
      const label = found(await passkeys.remove(tx, user.id, id), authErrors.passkeyNotFound);
      if (!hasOther) throw new ApiError(authErrors.lastLoginMethod);
      return { label };
    });
  }

  /** The same for everyone, so that it tells nothing about accounts. */
  async function startLogin() {
    const flow = await flows.begin(database, 'passkey_login');
    const challenge = flows.secret(flow, 'challenge');
    const options: schemas.LoginOptions = { challenge, timeout, rpId, userVerification };
    return { options, flow_token: flow.token };
  }

  async function finishLogin(input: schemas.PasskeyLogin, context: RequestContext) {
    const { flow_token: token, credential } = input;
    const flow = await flows.end(database, 'passkey_login', token);
    const passkey = await passkeys.find(credential.id);
    const reject = (event: 'login_failed' | 'passkey_refused', cause?: unknown) => {
      context.logSecurityEvent(event, { id: passkey?.userId });
      return new ApiError(authErrors.passkeyRejected, { cause });
    };
    if (flow === undefined || passkey === null) throw reject('login_failed');
    const challenge = flows.secret(flow, 'challenge');
    const use = await verifyLogin(credential, passkey, challenge).catch((cause: unknown) => {
      throw reject('login_failed', cause);
    });
    if (!(await passkeys.use(passkey.id, use))) throw reject('passkey_refused');
    const account = await logins.findByPasskey(passkey.id, context.clientAddress);
    const loggedIn = account && (await login.startSession(account, { methods: ['passkey'] }, context));
    if (loggedIn === undefined) throw reject('login_failed');
    return loggedIn;
  }

  /** @throws Error when it is not a new passkey for this service and this challenge */
  async function verifyRegistration(credential: schemas.RegistrationCredential, challenge: string) {
    rejectFrames(credential);
    const { verifyRegistrationResponse, decodeAttestationObject, isoBase64URL } = await load();
    const { attestationObject, transports = [] } = credential.response;
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    // Nothing else was asked for, and for certificates of vendors the library downloads lists of revoked ones.
    const isSelfMade = attestation.get('attStmt').get('x5c') === undefined;
    if (!isSelfMade || !['none', 'packed'].includes(attestation.get('fmt'))) {
      throw new Error('the attestation has a certificate');
    }
    const { verified, registrationInfo: info } = await verifyRegistrationResponse({
      ...expected,
      response: toLibrary(credential),
      expectedChallenge: challenge,
      supportedAlgorithmIDs: coseAlgorithms,
    });
    if (!verified) throw new Error('the attestation is not valid');
    if (info.credential.id !== credential.id) throw new Error('the id is not that of the credential');
    const { id: credentialId, publicKey, counter } = info.credential;
    return { credentialId, publicKey, counter, transports, isSynced: info.credentialBackedUp };
  }

  /** The caller checks the counter. @throws Error when it is no credential of the passkey for this service and this challenge */
  async function verifyLogin(credential: schemas.LoginCredential, passkey: PasskeyRow, challenge: string) {
    rejectFrames(credential);
    if (credential.response.userHandle !== userHandleOf(passkey.userId)) {
      throw new Error('the passkey is of another account');
    }
    const { verifyAuthenticationResponse } = await load();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      ...expected,
      response: toLibrary(credential),
      expectedChallenge: challenge,
      credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    });
    if (!verified) throw new Error('the signature is not valid');
    return { counter: authenticationInfo.newCounter, isSynced: authenticationInfo.credentialBackedUp };
  }

  const { list } = passkeys;
  return { list, startRegistration, finishRegistration, rename, remove, startLogin, finishLogin };
}

/** A credential with what the library wants besides what is read here. */
const toLibrary = <Credential extends schemas.RegistrationCredential | schemas.LoginCredential>(
  credential: Credential,
) => ({ ...credential, rawId: credential.id, type, clientExtensionResults: {} });

/** The account, as authenticators keep it. */
const userHandleOf = (userId: number) => Buffer.from(String(userId)).toString('base64url');

/** No page of another site may ask for passkeys in a frame of this one, which the library accepts from some browsers. */
function rejectFrames({ response }: schemas.RegistrationCredential | schemas.LoginCredential): void {
  const clientData = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString());
  if (clientData.crossOrigin) throw new Error('the page was in a frame of another site');
}
