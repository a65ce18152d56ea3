import type { Test } from 'tap';
import { authenticatorOf, forgetSteps } from '../auth/authenticator.ts';
import {
  latestCode,
  latestMail,
  latestResetLink,
  latestUndoToken,
  mailsTo,
  passTime,
  verifyLinkTokenIn,
} from '../auth/mailbox.ts';
import { createTestApp, logIn, password, resetLinkIn, type TestApp, verifyEmails } from '../support/app.ts';
import type { IdentityProvider } from '../support/identity-provider.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import type { Examples, Show } from './recorder.ts';
import { recorder } from './recorder.ts';

const email = 'dure@example.com';
const user = { username: 'dure_bakery', password };
const otherPassword = 'rice-cake-at-dawn-3';
const phone = { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X)' };
const desktop = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };

/** A user signs up, proves the address, and changes what can be changed. @returns the access token */
export async function accountStory(app: TestApp, show: Show): Promise<string> {
  await show('POST', '/auth/signup/', { body: { ...user, name: '김두레', email } });
  const first = await logIn(app, user);
  await app.mails.settled();
  await passTime(app, email, 3600);
  await show('POST', '/auth/email-verify/send/', { body: { email } });
  const code = await latestCode(app, email);
  const proof = { token: first.token, body: { email, code } };
  await show('POST', '/auth/email-verify/confirm/', { ...proof, name: 'code' });
  await app.call('POST', '/auth/logout/', { token: first.token, body: {} });
  const mistyped = { username: user.username, password: otherPassword };
  await show('POST', '/auth/login/', { body: mistyped, code: 'invalid_credentials' });
  const { data } = (await show('POST', '/auth/login/', { body: user, headers: phone })).body;
  const token: string = data.access;
  await show('GET', '/auth/me/', { token });
  await show('PATCH', '/auth/me/', { token, body: { name: '김두레' } });
  await show('POST', '/auth/confirm/', { token, body: { password }, name: 'password' });
  await sessionStory(app, show, token);
  await show('POST', '/auth/token/refresh/', { body: { refresh: data.refresh } });
  const changed = { current_password: password, new_password: otherPassword };
  await show('POST', '/auth/change-password/', { token, body: changed });
  return resetStory(app, show);
}

async function sessionStory(app: TestApp, show: Show, token: string): Promise<void> {
  await app.call('POST', '/auth/login/', { body: user, headers: desktop });
  const { items } = (await show('GET', '/auth/sessions/', { token })).body.data;
  const other = items.find((session: { is_current: boolean }) => !session.is_current);
  await show('DELETE', `/auth/sessions/${other.id}/`, { token });
  await show('DELETE', '/auth/sessions/', { token });
  const session = await logIn(app, user);
  await show('POST', '/auth/logout/', { token: session.token, body: {} });
}

/** The password is forgotten, and the address changes and comes back. */
async function resetStory(app: TestApp, show: Show): Promise<string> {
  await passTime(app, email, 3600);
  await show('POST', '/auth/find-id/', { body: { email } });
  const skip = (await mailsTo(app, email)).length;
  await show('POST', '/auth/reset-password-request/', { body: { email } });
  const { uid, token } = resetLinkIn(await app.mails.next(email, skip));
  await show('GET', `/auth/reset-password-validate/?${new URLSearchParams({ uid, token })}`);
  const reset = { uid, token, new_password: password };
  await show('POST', '/auth/reset-password-confirm/', { body: reset });

  const mover = await app.call('POST', '/auth/login/', { body: user, headers: phone });
  const new_email = 'owner@example.com';
  await app.call('POST', '/auth/email-verify/send/', { body: { email: new_email } });
  const code = await latestCode(app, new_email);
  const change = { password, new_email, code };
  await show('POST', '/auth/change-email/', { token: mover.body.data.access, body: change });
  await show('POST', '/auth/change-email/undo/', { body: { token: await latestUndoToken(app, email) } });
  const link = await latestResetLink(app, email);
  const again = { uid: link.uid, token: link.token, new_password: password };
  await app.call('POST', '/auth/reset-password-confirm/', { body: again });

  const guest = 'guest@example.com';
  await app.call('POST', '/auth/email-verify/send/', { body: { email: guest } });
  const linkToken = verifyLinkTokenIn(await latestMail(app, guest));
  await show('POST', '/auth/email-verify/confirm/', { body: { token: linkToken }, name: 'link' });
  const { body } = await app.call('POST', '/auth/login/', { body: user, headers: phone });
  return body.data.access;
}

/** An authenticator app and a passkey are added, used and removed. */
export async function secondFactorStory(app: TestApp, show: Show, token: string): Promise<void> {
  const { id } = (await app.call('GET', '/auth/me/', { token })).body.data;
  const { secret } = (await show('POST', '/auth/second-factor/totp/', { token })).body.data;
  const { code } = authenticatorOf(secret);
  const next = async () => {
    await forgetSteps(app, { id });
    return { code: code() };
  };
  await show('POST', '/auth/second-factor/totp/confirm/', { token, body: { code: code() } });
  await show('POST', '/auth/confirm/', { token, body: await next(), name: 'code' });
  const needed = 'second_factor_required';
  const { second_factor_token } = (await show('POST', '/auth/login/', { body: user, code: needed })).body
    .data;
  const second = { second_factor_token, ...(await next()) };
  await show('POST', '/auth/login/second-factor/', { body: second, headers: phone });
  await show('POST', '/auth/second-factor/recovery-codes/', { token });
  await show('GET', '/auth/second-factor/', { token });
  await show('DELETE', '/auth/second-factor/totp/', { token });

  const id16 = Buffer.from('only an example!').toString('base64url');
  const authenticator = createAuthenticator('https://app.example.com', { algorithm: 'EdDSA', id: id16 });
  const begun = (await show('POST', '/auth/passkeys/register/start/', { token, body: {} })).body.data;
  const { response, ...credential } = authenticator.create(begun.options);
  const { clientDataJSON, attestationObject, transports } = response;
  const answer = { clientDataJSON, attestationObject, transports };
  const registration = { flow_token: begun.flow_token, credential: withoutOthers(credential, answer) };
  const body = { ...registration, name: '매장 휴대폰' };
  const passkey = (await show('POST', '/auth/passkeys/register/finish/', { token, body })).body.data;
  await show('GET', '/auth/passkeys/', { token });
  await show('PATCH', `/auth/passkeys/${passkey.id}/`, { token, body: { name: '내 휴대폰' } });
  const login = (await show('POST', '/auth/passkeys/login/start/', { body: {} })).body.data;
  const { response: signed, ...found } = authenticator.get(login.options);
  const given = { flow_token: login.flow_token, credential: withoutOthers(found, signed) };
  await show('POST', '/auth/passkeys/login/finish/', { body: given, headers: phone });
  await show('DELETE', `/auth/passkeys/${passkey.id}/`, { token });
}

/** A credential with what the service reads of it. */
const withoutOthers = ({ id, type }: { id: string; type: string }, response: object) => ({
  id,
  type,
  response,
});

/** A login with Kakao signs up, is connected, confirms and is removed; at the end the accounts are deleted. */
export async function providerStory(
  app: TestApp,
  show: Show,
  { token, kakao }: { token: string; kakao: IdentityProvider },
): Promise<void> {
  await show('GET', '/auth/providers/');
  await show('POST', '/auth/providers/kakao/start/', { body: { purpose: 'login' } });
  /** @param shown of the example, unless the call is none */
  async function finish(
    provider: IdentityProvider,
    account: object,
    purpose: string,
    shown?: { name?: string; code?: string },
  ) {
    const path = `/auth/providers/${provider.id}`;
    const caller = purpose === 'login' ? {} : { token };
    const started = await app.call('POST', `${path}/start/`, { ...caller, body: { purpose } });
    const { authorization_url, flow_token } = started.body.data;
    const profile = { id: '1', ...account };
    const answer = new URLSearchParams(provider.logIn(authorization_url, profile));
    const callback = await app.call('GET', `${path}/callback/?${answer}`);
    const { searchParams } = new URL(String(callback.headers['location']));
    const body = { flow_token, code: searchParams.get('code'), state: searchParams.get('state') };
    const call = shown === undefined ? app.call : show;
    return call('POST', `${path}/finish/`, { ...caller, body, ...shown });
  }

  const guest = { id: '2026', email: 'tree@example.com', name: '박나무' };
  const isNew = { code: 'sign_up_required' };
  const { sign_up_token } = (await finish(kakao, guest, 'login', isNew)).body.data;
  const signUp = { sign_up_token, username: 'tree_books', name: '박나무', email: guest.email };
  await show('POST', '/auth/providers/sign-up/', { body: signUp, headers: phone });
  await finish(kakao, guest, 'login', { name: 'login' });
  const own = { id: '1031', email, name: '김두레' };
  const linked = (await finish(kakao, own, 'link', { name: 'link' })).body.data;
  await finish(kakao, own, 'confirm', { name: 'confirm' });
  await show('GET', '/auth/identities/', { token });
  await show('DELETE', `/auth/identities/${linked.id}/`, { token });
  const { link_token } = (await finish(kakao, own, 'login', { code: 'link_required' })).body.data;
  await show('POST', '/auth/identities/', { token, body: { link_token } });
  await show('DELETE', '/auth/me/', { token, body: { password } });
}

/** A user of a service with terms agrees to them, and downloads the own data. */
export async function consentStory(t: Test, examples: Examples, databaseUrl?: string): Promise<void> {
  const environment = {
    TERMS_VERSION: '2026-01-31',
    TERMS_URL: 'https://dure.example/terms',
    PRIVACY_VERSION: '2026-01-31',
    PRIVACY_URL: 'https://dure.example/privacy',
  };
  const app = await createTestApp(environment, databaseUrl ? { databaseUrl } : {});
  t.teardown(app.close);
  const show = recorder(app, examples);
  await show('GET', '/auth/consents/');
  const versions = { terms: '2026-01-31', privacy: '2026-01-31' };
  const consents = { ...versions, is_14_or_older: true };
  const account = { ...user, name: '김두레', email, consents };
  const { body } = await app.call('POST', '/auth/signup/', { body: account });
  await verifyEmails(app, body.data);
  const { token } = await logIn(app, user);
  await show('PATCH', '/auth/me/consents/', { token, body: { ...versions, marketing: true } });
  await show('GET', '/auth/me/consents/', { token });
  await show('GET', '/auth/me/data/', { token });
}
