import { type Static, Type } from '@sinclair/typebox';
import { Page } from '../../../http/pagination.ts';
import * as t from '../../../http/schemas.ts';
import { Line } from '../../../http/text.ts';
import { Confirmation, flowToken, signUpFields, Token, TokenPairWithUser, username } from '../schemas.ts';
import type { IdentityRow } from './repository.ts';

const providerId = t.Text('`id` of a provider', { pattern: '^[a-z][a-z0-9-]*$', maxLength: 30 });

/** What no provider has is 404. */
export const ProviderPath = Type.Object({ provider: { ...providerId, examples: ['kakao'] } });

const sent = (description: string, pattern: string, maxLength: number) =>
  Type.Optional(Type.String({ ...t.documented({ pattern, maxLength }), description }));
export const ProviderForm = t.NamedObject('ProviderForm', 'What a provider sends; other fields are ignored', {
  code: sent('What the login is finished with', '^[ -~]+$', 2000),
  state: sent('Of the `authorization_url`', '^[A-Za-z0-9_-]+$', 200),
  error: sent('Why there is no `code`', '^[A-Za-z0-9_]+$', 100),
  user: sent('JSON with the name of the user, at the first login', '^[{]', 4000),
});

const LoginProvider = t.NamedObject('LoginProvider', 'With what users can log in', {
  id: providerId,
  name: t.Text('For a button, in the language of the response', 1000),
});
export const LoginProviders = t.NamedObject('LoginProviders', 'The providers', {
  items: t.List(t.Ref(LoginProvider), 100, 'In the order in which a page shows them'),
});

const LoginPurpose = t.NamedEnum('LoginPurpose', 'What a login at a provider is for', {
  login: 'To log in, or to sign up',
  link: 'To connect the identity with the account of the access token',
  confirm: 'To confirm that the user of the session is still there',
});
export type LoginPurpose = Static<typeof LoginPurpose>;

export const ProviderLoginStart = t.Body('ProviderLoginStart', 'A login that begins', {
  purpose: t.Ref(LoginPurpose),
});

export const StartedFlow = t.NamedObject('StartedFlow', 'Where the login goes on', {
  authorization_url: t.Url('Send the browser there'),
  flow_token: Token('Finishes this login at `finishProviderLogin`. Keep it in the browser that began'),
  expires_in: t.Int32('Seconds in which the login must be finished'),
});

export const FinishedFlow = t.Body(
  'FinishedFlow',
  'What the page of the callback got, and the token of the start',
  {
    flow_token: flowToken('From `startProviderLogin`'),
    code: Line('`code` of the callback page', 4000),
    state: Line('`state` of the callback page', 200),
  },
);
export type FinishedFlow = Static<typeof FinishedFlow>;

const ofPurpose = 'The result of the purpose `login` or `confirm`';
export const LoginOrConfirmation = t.OneOf('LoginOrConfirmation', ofPurpose, [
  TokenPairWithUser,
  Confirmation,
]);

export const NewUserOfProvider = t.Body('NewUserOfProvider', 'An account to create without a password', {
  sign_up_token: flowToken('From the `sign_up_required` of `finishProviderLogin`'),
  username,
  ...signUpFields,
});
export type NewUserOfProvider = Static<typeof NewUserOfProvider>;

export const Identity = t.NamedObject('Identity', 'An account at a provider, with which the user logs in', {
  id: t.Id('Identifier'),
  provider: providerId,
  email: t.OrNull(t.Email('The address at the provider, as of the last login')),
  created_at: t.Timestamp('When it was connected'),
  last_used_at: t.Timestamp('When the user last logged in with it'),
});
export const IdentityPage = Page('IdentityPage', t.Ref(Identity));

export const NewIdentity = t.Body('NewIdentity', 'The identity to connect', {
  link_token: flowToken('From the `link_required` of `finishProviderLogin`'),
});

export function toIdentity({ id, provider, email, createdAt, lastUsedAt }: IdentityRow) {
  return { id, provider, email, created_at: createdAt.toISOString(), last_used_at: lastUsedAt.toISOString() };
}
