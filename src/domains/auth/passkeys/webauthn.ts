import type { CurrentUser } from '../../../http/authentication.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import { flowLifetimes } from '../sessions/flow-repository.ts';
import type { PasskeyRow } from './repository.ts';
import type * as schemas from './schemas.ts';

/** Milliseconds for a registration or a login. */
const timeout = flowLifetimes.passkey_login * 1000;
/** ES256, EdDSA and RS256 by their numbers in COSE. */
const coseAlgorithms = [-7, -8, -257];
const type = 'public-key' as const;

/** The library takes 0.3 s and 30 MB, so it is loaded where the first passkey is verified. */
const load = async () => ({
  ...(await import('@simplewebauthn/server')),
  ...(await import('@simplewebauthn/server/helpers')),
});

/** The requests to browsers and the checks of their responses, as in Web Authentication Level 3, sections 7.1 and 7.2. */
export function createWebauthn({ frontendUrl, corsOrigins, passkeyOrigins }: Config) {
  const { hostname: rpId, origin } = new URL(frontendUrl);
  const expected = {
    expectedRPID: rpId,
    expectedOrigin: [origin, ...corsOrigins, ...passkeyOrigins],
    requireUserVerification: true,
  };

  return {
    registrationOptions(
      user: CurrentUser,
      challenge: string,
      existing: PasskeyRow[],
    ): schemas.RegistrationOptions {
      return {
        challenge,
        timeout,
        rp: { id: rpId, name: 'Dure' },
        user: { id: userHandleOf(user.id), name: user.username, displayName: user.name },
        pubKeyCredParams: coseAlgorithms.map((alg) => ({ type, alg })),
        excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ type, id, transports })),
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        attestation: 'none',
      };
    },

    loginOptions: (challenge: string): schemas.LoginOptions => ({
      challenge,
      timeout,
      rpId,
      userVerification: 'required',
    }),

    /** @throws Error when it is not a new passkey for this service and this challenge */
    async verifyRegistration(credential: schemas.RegistrationCredential, challenge: string) {
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
    },

    /** The caller checks the counter. @throws Error when it is no credential of the passkey for this service and this challenge */
    async verifyLogin(credential: schemas.LoginCredential, passkey: PasskeyRow, challenge: string) {
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
    },
  };
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
