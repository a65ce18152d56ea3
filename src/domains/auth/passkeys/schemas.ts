import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../../../http/pagination.ts';
import { Body, Int32, NamedObject, Ref, StringEnum, Timestamp } from '../../../http/schemas.ts';
import { pattern, TextField } from '../../../http/text.ts';

/** -7, -8 and -257 of COSE: ES256, EdDSA, RS256. */
export const algorithms = [-7, -8, -257];

const challenge = 'Zm9yIGV4YW1wbGUgb25seSwgMzIgYnl0ZXMgbG9uZyE';
const credentialId = 'VGhlSWRPZkFQYXNza2V5';
const userHandle = 'MQ';

const name = TextField('line', {
  minLength: 1,
  maxLength: 50,
  description: 'How the user tells it from others',
  examples: ['내 휴대폰'],
});

export const Passkey = NamedObject('Passkey', 'A passkey of an account', {
  id: Int32({ description: 'Identifier', examples: [1] }),
  name: Type.String({ description: 'How the user tells it from others', examples: ['내 휴대폰'] }),
  is_synced: Type.Boolean({
    description: 'Whether it is backed up and works on other devices of the user',
    examples: [true],
  }),
  created_at: Timestamp('When it was added'),
  last_used_at: Timestamp('When it was last logged in with'),
});
export type Passkey = Static<typeof Passkey>;
export const PasskeyPage = Page('PasskeyPage', Ref(Passkey));
export const PasskeyChanges = Body('PasskeyChanges', 'A new name', { name });

const flowToken = TextField('line', {
  minLength: 1,
  description: '`flow_token` of the start; works once',
  examples: ['c0ffee00-5b1f-4e0e-9a59-0d4a1b2c3d4e.Zm9yIGV4YW1wbGUgb25seQ'],
});

/** Bytes that a browser sends. */
const bytes = (maxLength: number, description: string, example: string) =>
  Type.String({
    maxLength,
    ...pattern('^[A-Za-z0-9_-]+$', {
      ko: 'base64url로 인코딩한 값이어야 합니다.',
      en: 'Must be encoded in base64url.',
    }),
    description: `${description}, in base64url`,
    examples: [example],
  });

/** Bodies of up to 32 KiB, to which browsers add fields that nothing here reads: objects with any other properties. */
const credential = {
  // At most 1,023 bytes.
  id: bytes(1364, 'The id of the passkey', credentialId),
  rawId: bytes(1364, 'The same as `id`', credentialId),
  type: StringEnum(['public-key'], { description: 'The type of the credential' }),
};
const clientDataJSON = bytes(4096, 'What the browser signed for', 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0');

const RegistrationCredential = NamedObject(
  'PasskeyRegistrationCredential',
  'What `navigator.credentials.create()` gives, by its `toJSON()`: a `RegistrationResponseJSON` of WebAuthn',
  {
    ...credential,
    response: NamedObject('PasskeyAttestation', 'The new key', {
      clientDataJSON,
      attestationObject: bytes(8192, 'The public key and its properties', 'o2NmbXRkbm9uZQ'),
      transports: Type.Optional(
        Type.Array(TextField('line', { minLength: 1, maxLength: 32 }), {
          maxItems: 10,
          description: 'How the authenticator is reached',
          examples: [['internal', 'hybrid']],
        }),
      ),
    }),
  },
);
export type RegistrationCredential = Static<typeof RegistrationCredential>;

const LoginCredential = NamedObject(
  'PasskeyLoginCredential',
  'What `navigator.credentials.get()` gives, by its `toJSON()`: an `AuthenticationResponseJSON` of WebAuthn',
  {
    ...credential,
    response: NamedObject('PasskeyAssertion', 'The proof that the user has the key', {
      clientDataJSON,
      authenticatorData: bytes(4096, 'What the authenticator says about itself', 'Zm9yIGV4YW1wbGUgb25seQ'),
      signature: bytes(4096, 'The signature', 'Zm9yIGV4YW1wbGUgb25seQ'),
      userHandle: Type.Optional(bytes(86, 'The `user.id` of the registration', userHandle)),
    }),
  },
);
export type LoginCredential = Static<typeof LoginCredential>;

export const NewPasskey = Body('NewPasskey', 'A passkey to add', {
  flow_token: flowToken,
  credential: Ref(RegistrationCredential),
  name: Type.Optional(name),
});
export type NewPasskey = Static<typeof NewPasskey>;
export const PasskeyLogin = Body('PasskeyLogin', 'Who logs in', {
  flow_token: flowToken,
  credential: Ref(LoginCredential),
});
export type PasskeyLogin = Static<typeof PasskeyLogin>;

const newFlowToken = Type.String({
  description: 'For the finish, once, and within five minutes',
  examples: ['c0ffee00-5b1f-4e0e-9a59-0d4a1b2c3d4e.Zm9yIGV4YW1wbGUgb25seQ'],
});
const publicKey = StringEnum(['public-key'], { description: 'The type of the credential' });
const commonOptions = {
  challenge: Type.String({ description: 'What is signed, in base64url', examples: [challenge] }),
  timeout: Int32({ description: 'Milliseconds for which the browser waits', examples: [300_000] }),
};
const required = (description: string) => StringEnum(['required'], { description });

const RegistrationOptions = NamedObject(
  'PasskeyRegistrationOptions',
  'For `PublicKeyCredential.parseCreationOptionsFromJSON()`: a `PublicKeyCredentialCreationOptionsJSON` of WebAuthn',
  {
    ...commonOptions,
    rp: NamedObject('PasskeyRelyingParty', 'This service', {
      id: Type.String({ description: 'The host of the frontend', examples: ['app.example.com'] }),
      name: Type.String({ description: 'For people', examples: ['Dure'] }),
    }),
    user: NamedObject('PasskeyUser', 'The account', {
      id: Type.String({ description: 'Its identifier, in base64url', examples: [userHandle] }),
      name: Type.String({ description: 'The username', examples: ['dure_cafe'] }),
      displayName: Type.String({ description: 'How the user is called', examples: ['김두레'] }),
    }),
    pubKeyCredParams: Type.Array(
      NamedObject('PasskeyAlgorithm', 'An algorithm that is accepted', {
        type: publicKey,
        alg: Int32({ description: 'Its number in COSE', examples: [-7] }),
      }),
      { description: 'The best first' },
    ),
    excludeCredentials: Type.Array(
      NamedObject('PasskeyDescriptor', 'A passkey that the account has', {
        type: publicKey,
        id: Type.String({ description: 'Of the passkey, in base64url', examples: [credentialId] }),
        transports: Type.Array(Type.String(), {
          description: 'How its authenticator is reached',
          examples: [['internal', 'hybrid']],
        }),
      }),
      { description: 'An authenticator that has one of them is not asked for another' },
    ),
    authenticatorSelection: NamedObject('PasskeyAuthenticatorSelection', 'What authenticators must do', {
      residentKey: required('Keep the account with the key'),
      requireResidentKey: Type.Literal(true, { description: 'The same, for older browsers' }),
      userVerification: required('Verify the user'),
    }),
    attestation: StringEnum(['none'], { description: 'Which authenticator it is does not matter' }),
  },
);
export type RegistrationOptions = Static<typeof RegistrationOptions>;

const LoginOptions = NamedObject(
  'PasskeyLoginOptions',
  'For `PublicKeyCredential.parseRequestOptionsFromJSON()`: a `PublicKeyCredentialRequestOptionsJSON` of WebAuthn',
  {
    ...commonOptions,
    rpId: Type.String({ description: 'The host of the frontend', examples: ['app.example.com'] }),
    userVerification: required('The authenticator verifies the user'),
  },
);
export type LoginOptions = Static<typeof LoginOptions>;

export const PasskeyRegistrationStart = NamedObject('PasskeyRegistrationStart', 'A registration that began', {
  options: Ref(RegistrationOptions),
  flow_token: newFlowToken,
});
export const PasskeyLoginStart = NamedObject('PasskeyLoginStart', 'A login that began', {
  options: Ref(LoginOptions),
  flow_token: newFlowToken,
});
