import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../../../http/pagination.ts';
import { Body, Int32, NamedEnum, NamedObject, Ref, StringOrNull, Timestamp } from '../../../http/schemas.ts';
import type { IdentityRow } from '../repository/identities.ts';
import { Confirmation, flowToken, line, signUpFields, TokenPairWithUser, username } from '../schemas.ts';

const providerId = { description: '`id` of a provider', examples: ['kakao'] };

/** What no provider has is 404. */
export const ProviderPath = Type.Object({ provider: Type.String(providerId) });

const LoginProvider = NamedObject('LoginProvider', 'With what users can log in', {
  id: Type.String(providerId),
  name: Type.String({ description: 'For a button, in the language of the response', examples: ['카카오'] }),
});
export const LoginProviders = NamedObject('LoginProviders', 'The providers', {
  items: Type.Array(Ref(LoginProvider), { description: 'In the order in which a page shows them' }),
});

const LoginPurpose = NamedEnum('LoginPurpose', 'What a login at a provider is for', {
  login: 'To log in, or to sign up',
  link: 'To connect the identity with the account of the access token',
  confirm: 'To confirm that the user of the session is still there',
});
export type LoginPurpose = Static<typeof LoginPurpose>;

export const ProviderLoginStart = Body('ProviderLoginStart', 'A login that begins', {
  purpose: Ref(LoginPurpose),
});

export const StartedFlow = NamedObject('StartedFlow', 'Where the login goes on', {
  authorization_url: Type.String({
    description: 'Send the browser there',
    examples: ['https://kauth.kakao.com/oauth/authorize?response_type=code&client_id=dure'],
  }),
  flow_token: Type.String({
    description: 'Finishes this login at `finishProviderLogin`. Keep it in the browser that began',
    examples: ['c0ffee00-5b1f-4e0e-9a59-0d4a1b2c3d4e.Zm9yIGV4YW1wbGUgb25seQ'],
  }),
  expires_in: Int32({ description: 'Seconds in which the login must be finished', examples: [600] }),
});
export type StartedFlow = Static<typeof StartedFlow>;

export const FinishedFlow = Body(
  'FinishedFlow',
  'What the page of the callback got, and the token of the start',
  {
    flow_token: flowToken('From `startProviderLogin`'),
    code: line('`code` of the callback page', 'Y2FsbGJhY2s', { maxLength: 4000 }),
    state: line('`state` of the callback page', 'c3RhdGU', { maxLength: 200 }),
  },
);
export type FinishedFlow = Static<typeof FinishedFlow>;

export const LoginOrConfirmation = Type.Unsafe<
  Static<typeof TokenPairWithUser> | Static<typeof Confirmation>
>({
  $id: 'LoginOrConfirmation',
  description: 'The result of the purpose `login` or `confirm`',
  oneOf: [Ref(TokenPairWithUser), Ref(Confirmation)],
});

export const NewUserOfProvider = Body('NewUserOfProvider', 'An account to create without a password', {
  sign_up_token: flowToken('From the `sign_up_required` of `finishProviderLogin`'),
  username,
  ...signUpFields,
});
export type NewUserOfProvider = Static<typeof NewUserOfProvider>;

export const Identity = NamedObject('Identity', 'An account at a provider, with which the user logs in', {
  id: Int32({ description: 'Identifier', examples: [1] }),
  provider: Type.String(providerId),
  email: StringOrNull({
    description: 'The address at the provider, as of the last login',
    examples: ['owner@example.com'],
  }),
  created_at: Timestamp('When it was connected'),
  last_used_at: Timestamp('When the user last logged in with it'),
});
export type Identity = Static<typeof Identity>;
export const IdentityPage = Page('IdentityPage', Ref(Identity));

export const NewIdentity = Body('NewIdentity', 'The identity to connect', {
  link_token: flowToken('From the `link_required` of `finishProviderLogin`'),
});

/** An identity as its user sees it. */
export function toIdentity({ id, provider, email, createdAt, lastUsedAt }: IdentityRow): Identity {
  return { id, provider, email, created_at: createdAt.toISOString(), last_used_at: lastUsedAt.toISOString() };
}
