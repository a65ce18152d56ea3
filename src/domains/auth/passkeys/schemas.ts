import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { Page } from '../../../http/pagination.ts';
import * as t from '../../../http/schemas.ts';
import { Line, pattern, TextField, whenUnnamed } from '../../../http/text.ts';
import type { Passkey as PasskeyRow } from '../../../infrastructure/database/generated/client.ts';
import { flowToken, Token, Username } from '../schemas.ts';

const name = Line('How the user tells it from others', { ...whenUnnamed, maxLength: 50 });
const flow_token = flowToken('Of the start; works once, within five minutes');

export const Passkey = t.NamedObject('Passkey', 'A passkey of an account', {
  id: t.Id('Identifier'),
  name: t.Text('How the user tells it from others', 50),
  is_synced: t.Flag('Whether it is backed up and works on other devices of the user'),
  created_at: t.Timestamp('When it was added'),
  last_used_at: t.Timestamp('When it was last logged in with'),
});
export function toPasskey({ id, name, isSynced, createdAt, lastUsedAt }: PasskeyRow) {
  const times = { created_at: createdAt.toISOString(), last_used_at: lastUsedAt.toISOString() };
  return { id, name, is_synced: isSynced, ...times };
}
export const PasskeyPage = Page('PasskeyPage', t.Ref(Passkey));
export const PasskeyChanges = t.Body('PasskeyChanges', 'A new name', { name });

const always = <const Value extends string>(value: Value, description: string) =>
  t.StringEnum([value], { description });
const type = always('public-key', 'The only type that there is');

/** A part of the JSON of WebAuthn, where browsers may have more properties than those that are read here. */
const part = <T extends TProperties>($id: string, description: string, properties: T) =>
  t.Ref(t.NamedObject($id, description, properties));
const bytes = (maxLength: number, description: string) =>
  Type.String({
    maxLength,
    ...pattern('^[A-Za-z0-9_-]+$', {
      ko: 'base64url로 인코딩한 값이어야 합니다.',
      en: 'Must be encoded in base64url.',
    }),
    description: `${description}, in base64url`,
  });
/** WebAuthn has at most 1,023 bytes. */
const credentialId = bytes(1364, 'Of the passkey');
const clientDataJSON = bytes(4096, 'What the browser says about the request');

const RegistrationCredential = t.NamedObject(
  'PasskeyRegistrationCredential',
  'What `navigator.credentials.create()` gives, by its `toJSON()` (`RegistrationResponseJSON` of WebAuthn)',
  {
    id: credentialId,
    type: Type.Optional(type),
    response: part('PasskeyAttestation', 'The new key', {
      clientDataJSON,
      attestationObject: bytes(6000, 'The public key and its properties'),
      transports: Type.Optional(
        Type.Array(TextField('line', { minLength: 1, maxLength: 32 }), {
          maxItems: 10,
          description: 'How the authenticator is reached',
        }),
      ),
    }),
  },
);
export type RegistrationCredential = Static<typeof RegistrationCredential>;

export const NewPasskey = t.Body('NewPasskey', 'A passkey to add', {
  flow_token,
  credential: t.Ref(RegistrationCredential),
  name: Type.Optional(name),
});
export type NewPasskey = Static<typeof NewPasskey>;

const LoginCredential = t.NamedObject(
  'PasskeyLoginCredential',
  'What `navigator.credentials.get()` gives, by its `toJSON()` (`AuthenticationResponseJSON` of WebAuthn)',
  {
    id: credentialId,
    type: Type.Optional(type),
    response: part('PasskeyAssertion', 'The proof that the user has the key', {
      clientDataJSON,
      authenticatorData: bytes(4096, 'What the authenticator says about the request'),
      signature: bytes(4096, 'Its signature'),
      userHandle: Type.Optional(bytes(86, 'The `user.id` of the registration')),
    }),
  },
);
export type LoginCredential = Static<typeof LoginCredential>;

export const PasskeyLogin = t.Body('PasskeyLogin', 'Who logs in', {
  flow_token,
  credential: t.Ref(LoginCredential),
});
export type PasskeyLogin = Static<typeof PasskeyLogin>;

const ofEveryRequest = {
  challenge: t.Base64url('What is signed, in base64url', 86),
  timeout: t.Int32('Milliseconds for which the browser waits'),
};
const userVerification = always('required', 'The authenticator verifies the user');
const rpId = t.Text('The host of the frontend', { pattern: '^[a-z0-9.-]+$', maxLength: 253 });

const RegistrationOptions = t.NamedObject(
  'PasskeyRegistrationOptions',
  'For `PublicKeyCredential.parseCreationOptionsFromJSON()` (`PublicKeyCredentialCreationOptionsJSON` of WebAuthn)',
  {
    ...ofEveryRequest,
    rp: part('PasskeyService', 'This service', { id: rpId, name: t.Text('For people', 50) }),
    user: part('PasskeyUser', 'The account', {
      id: t.Base64url('Its identifier, in base64url', 86),
      name: Username('The username'),
      displayName: t.Text('How the user is called', 50),
    }),
    pubKeyCredParams: t.List(
      part('PasskeyAlgorithm', 'An algorithm that is accepted', {
        type,
        alg: t.Int32('Its number in COSE', { minimum: -65_535, maximum: -1 }),
      }),
      10,
      'The best first',
    ),
    excludeCredentials: t.List(
      part('PasskeyDescriptor', 'A passkey of the account', {
        type,
        id: t.Base64url('Of the passkey, in base64url', 1364),
        transports: t.List(
          Type.String(t.documented({ maxLength: 32 })),
          10,
          'How its authenticator is reached',
        ),
      }),
      10,
      'An authenticator that has one of them adds no other',
    ),
    authenticatorSelection: part('PasskeySelection', 'What authenticators must do', {
      residentKey: always('required', 'They keep the account with the key'),
      requireResidentKey: Type.Literal(true, { description: 'The same, for older browsers' }),
      userVerification,
    }),
    attestation: always('none', 'Which authenticator it is does not matter'),
  },
);
export type RegistrationOptions = Static<typeof RegistrationOptions>;

const LoginOptions = t.NamedObject(
  'PasskeyLoginOptions',
  'For `PublicKeyCredential.parseRequestOptionsFromJSON()` (`PublicKeyCredentialRequestOptionsJSON` of WebAuthn)',
  { ...ofEveryRequest, rpId, userVerification },
);
export type LoginOptions = Static<typeof LoginOptions>;

const newFlowToken = Token('For the finish: once, within five minutes');
export const PasskeyRegistrationStart = t.NamedObject(
  'PasskeyRegistrationStart',
  'A registration that began',
  { options: t.Ref(RegistrationOptions), flow_token: newFlowToken },
);
export const PasskeyLoginStart = t.NamedObject('PasskeyLoginStart', 'A login that began', {
  options: t.Ref(LoginOptions),
  flow_token: newFlowToken,
});
