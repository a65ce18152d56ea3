import t from 'tap';
import { logIn, password, resetLinkIn, suspend } from '../../support/app.ts';
import { invalid, rejected } from '../../support/assertions.ts';
import { passConfirmation } from '../authenticator.ts';
import { about, createVerifiedUser } from '../mailbox.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { kakao, naver, apple, acme, other, call, post, pool } = app;

t.test('the providers are listed in their order, in the language of the request', async (t) => {
  const inEnglish = await call('GET', '/auth/providers/', { headers: { 'accept-language': 'en' } });
  t.strictSame(inEnglish.body.data.items.slice(0, 3), [
    { id: 'kakao', name: 'Kakao' },
    { id: 'naver', name: 'Naver' },
    { id: 'apple', name: 'Apple' },
  ]);
  t.match((await call('GET', '/auth/providers/')).body.data.items[0], { name: '카카오' });
});

for (const provider of [kakao, naver, apple, acme]) {
  t.test(`with ${provider.id} a new user signs up, and then logs in`, async (t) => {
    const user = newAccount();
    const begun = await app.begin(provider);
    const request = new URL(begun.authorization_url).searchParams;
    t.match(Object.fromEntries(request), {
      response_type: 'code',
      redirect_uri: `https://api.example.com/auth/providers/${provider.id}/callback/`,
      code_challenge_method: 'S256',
      state: /^[\w-]{43}$/,
      nonce: /^[\w-]{43}$/,
    });
    t.equal(request.get('response_mode'), provider === apple ? 'form_post' : null);
    const form = { user: JSON.stringify({ name: { firstName: '나무', lastName: '박' }, email: user.email }) };
    const required = await app.finish(provider, await app.answer(provider, begun, user, form));
    const isEmailProved = provider !== naver;
    rejected(t, required, 403, 'sign_up_required', {
      sign_up_token: required.body.data.sign_up_token,
      expires_in: 1800,
      suggested: { name: '박나무', email: user.email, is_email_verified: isEmailProved },
    });
    const { sign_up_token: token } = required.body.data;
    const done = await app.signUp(token, { email: user.email });
    const signedUp = { email: user.email, is_verified: isEmailProved };
    t.match(done.body.data, { token_type: 'Bearer', user: signedUp }, done.text);
    rejected(t, await app.signUp(token, { email: user.email }), 400, 'sign_up_token_invalid');

    const again = await app.logInWith(provider, { ...user, email: 'moved@example.com' });
    t.equal(again.status, 200, again.text);
    t.equal(again.body.data.user.id, done.body.data.user.id);
    const { access } = again.body.data;
    const sessions = await call('GET', '/auth/sessions/', { token: access });
    t.strictSame(sessions.body.data.items[0].methods, [provider.id]);
    const { body } = await call('GET', '/auth/identities/', { token: access });
    t.match(body.data.items, [{ provider: provider.id, email: 'moved@example.com' }]);
    t.ok(body.data.items[0].last_used_at > body.data.items[0].created_at);
    t.match((await call('GET', '/auth/me/', { token: access })).body.data, { email: user.email });
  });
}

t.test('a provider that takes the client secret in a header only gets it there', async (t) => {
  // Discovery is read once, so it stays.
  other.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
  const required = await app.logInWith(other, newAccount());
  t.match(required.body.data, { code: 'sign_up_required' });
  const { body } = other.requests.find(({ path }) => path === '/token') ?? {};
  t.equal(body?.get('client_secret'), null);
});

t.test('a profile that only the user information has is read there', async (t) => {
  other.hasProfileElsewhere = true;
  const user = newAccount();
  const required = await app.logInWith(other, user);
  t.match(required.body.data.suggested, { email: user.email, is_email_verified: true, name: user.name });
  other.hasProfileElsewhere = false;
});

t.test('one account has several identities, and each of them logs in', async (t) => {
  const owner = await createVerifiedUser(app);
  const [first, second] = [newAccount(), newAccount()];
  for (const [provider, user] of [
    [acme, first],
    [kakao, second],
  ] as const) {
    const linked = await app.logInWith(provider, user, 'link', owner.token);
    t.match(linked, { status: 201, body: { data: { provider: provider.id, email: user.email } } });
    t.equal((await app.logInWith(provider, user)).body.data.user.id, owner.id);
  }
  const list = (query: string) => call('GET', `/auth/identities/${query}`, { token: owner.token });
  const page = await list('?limit=1');
  t.match(page.body.data.items, [{ provider: 'kakao' }]);
  const rest = await list(`?cursor=${page.body.data.next_cursor}`);
  t.match(rest.body.data, { items: [{ provider: 'acme' }], next_cursor: null });
  await app.mailTo(owner.email, '카카오');
});

t.test('a login confirms that the user of a session is still there', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  await passConfirmation(app, account);
  const startLink = () => post('providers/kakao/start', { purpose: 'link' }, { token: account.token });
  rejected(t, await startLink(), 403, 'confirmation_required', { methods: ['acme'] });
  const confirmed = await app.logInWith(acme, user, 'confirm', account.token);
  t.equal(confirmed.status, 200, confirmed.text);
  about(t, Math.ceil((Date.parse(confirmed.body.data.confirmed_until) - Date.now()) / 1_000), 600);
  t.equal((await startLink()).status, 200);
});

t.test('a reset link sets the first password, and the identity stays', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  rejected(t, await post('login', { username: account.username, password }), 401, 'invalid_credentials');
  await post('reset-password-request', { email: account.email });
  const { uid, token } = resetLinkIn(await app.mailTo(account.email, '/reset-password?'));
  const reset = { uid, token, new_password: password };
  t.equal((await post('reset-password-confirm', reset)).status, 200);
  await logIn(app, { username: account.username, password });
  t.equal((await app.logInWith(acme, user)).status, 200);
});

t.test('account_suspended comes only after the provider has named the user', async (t) => {
  const user = newAccount();
  await suspend(app, await app.signUpWith(acme, user));
  rejected(t, await app.logInWith(acme, user), 403, 'account_suspended');
});

t.test('a provider is one factor: with a second one the login is not complete', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  const insert = "INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES ($1, 'x', now())";
  await pool.query(insert, [account.id]);
  const login = await app.logInWith(acme, user);
  const { second_factor_token } = login.body.data;
  const second = { second_factor_token, methods: ['totp', 'recovery_code'], expires_in: 300 };
  rejected(t, login, 401, 'second_factor_required', second);
});

t.test('an unknown provider is not found, but without an access token none links or confirms', async (t) => {
  rejected(t, await post('providers/github/start', { purpose: 'login' }), 404, 'provider_not_found');
  const body = { flow_token: 'x', code: 'x', state: 'x' };
  rejected(t, await post('providers/github/finish', body), 404, 'provider_not_found');
  for (const id of ['github', 'acme'])
    for (const purpose of ['link', 'confirm'])
      rejected(t, await post(`providers/${id}/start`, { purpose }), 401, 'not_authenticated');
});

t.test('where addresses must be verified, a provider or a token has to prove them', async (t) => {
  const strict = await startProviders({ EMAIL_VERIFICATION: 'required' }, app);
  const user = newAccount();
  const unproved = await strict.logInWith(strict.naver, user);
  const token = unproved.body.data.sign_up_token;
  const missing = await strict.signUp(token, { email: user.email });
  invalid(t, missing, 'verification_token');
  t.match(missing.body.data.errors, [{ code: 'required' }]);
  const proved = await strict.logInWith(strict.kakao, user);
  const done = await strict.signUp(proved.body.data.sign_up_token, { email: user.email });
  t.match(done, { status: 201, body: { data: { user: { is_verified: true } } } });
});
