import t from 'tap';
import { createUser, logIn } from '../../support/app.ts';
import { rejected, tokenRejected } from '../../support/assertions.ts';
import type { Faults } from '../../support/identity-provider.ts';
import { passConfirmation } from '../authenticator.ts';
import { createVerifiedUser } from '../mailbox.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { acme, other, apple, call, post, pool } = app;

t.test('the code and state of an attacker are refused with the flow of a victim (login CSRF)', async (t) => {
  const [victim, attacker] = [await app.begin(acme), await app.begin(acme)];
  const sent = await app.answer(acme, attacker, newAccount());
  acme.requests.length = 0;
  rejected(t, await app.finish(acme, { ...sent, flow_token: victim.flow_token }), 400, 'provider_refused');
  t.strictSame(acme.requests, [], 'the provider is not asked');
});

t.test('the code of a victim is refused in the flow of an attacker (code injection)', async (t) => {
  const [victim, attacker] = [await app.begin(acme), await app.begin(acme)];
  const stolen = await app.answer(acme, victim, newAccount());
  const own = await app.answer(acme, attacker, newAccount());
  rejected(t, await app.finish(acme, { ...own, code: stolen.code }), 400, 'provider_refused');
  t.equal((await app.finish(acme, stolen)).status, 400, 'the provider has used the code up');
});

t.test('without the flow token of the browser that began, a code is worth nothing', async (t) => {
  const sent = await app.answer(acme, await app.begin(acme), newAccount());
  const { flow_token: token } = sent;
  for (const flow_token of ['x', token.slice(0, -1), `${token}x`, `${token.split('.')[0]}.`]) {
    rejected(t, await app.finish(acme, { ...sent, flow_token }), 400, 'provider_refused');
  }
  t.equal((await app.finish(acme, sent)).status, 403, 'no guess has ended the flow');
});

t.test('a flow of one provider is refused at another one (mix-up)', async (t) => {
  const sent = await app.answer(acme, await app.begin(acme), newAccount());
  other.requests.length = 0;
  rejected(t, await app.finish(other, sent), 400, 'provider_refused');
  t.strictSame(other.requests, [], 'the other provider gets no code');
  t.equal((await app.finish(acme, sent)).status, 403);
});

t.test('a finished flow is over, whatever came of it', async (t) => {
  const user = newAccount();
  const sent = await app.answer(acme, await app.begin(acme), user);
  t.equal((await app.finish(acme, sent)).status, 403);
  acme.requests.length = 0;
  rejected(t, await app.finish(acme, sent), 400, 'provider_refused');
  const failed = await app.answer(acme, await app.begin(acme), user);
  const broken: Faults = { responses: { '/token': (response) => void response.writeHead(500).end() } };
  t.equal((await app.withFaults(acme, broken, () => app.finish(acme, failed))).status, 503);
  rejected(t, await app.finish(acme, failed), 400, 'provider_refused');
});

t.test('a flow ends after ten minutes', async (t) => {
  const sent = await app.answer(acme, await app.begin(acme), newAccount());
  const [id] = sent.flow_token.split('.');
  await pool.query('UPDATE login_flows SET expires_at = now() WHERE id = $1', [id]);
  rejected(t, await app.finish(acme, sent), 400, 'provider_refused');
});

t.test('a token of one kind is none of another kind', async (t) => {
  const owner = await createVerifiedUser(app);
  const required = await app.logInWith(acme, newAccount());
  const signUpToken = required.body.data.sign_up_token;
  const linkToken = (await app.logInWith(acme, newAccount({ email: owner.email }))).body.data.link_token;
  const begun = await app.begin(acme);
  const sent = await app.answer(acme, begun, newAccount());
  for (const flow_token of [signUpToken, linkToken]) {
    rejected(t, await app.finish(acme, { ...sent, flow_token }), 400, 'provider_refused');
  }
  for (const token of [linkToken, begun.flow_token]) {
    rejected(t, await app.signUp(token, { email: 'new@example.com' }), 400, 'sign_up_token_invalid');
  }
  for (const link_token of [signUpToken, begun.flow_token]) {
    rejected(t, await post('identities', { link_token }, { token: owner.token }), 400, 'link_token_invalid');
  }
});

t.test('a flow to link or confirm is finished by the session that began, and by no other one', async (t) => {
  const [victim, attacker] = [await createUser(app), await createUser(app)];
  const otherSession = await logIn(app, victim);
  for (const purpose of ['link', 'confirm']) {
    const user = newAccount();
    const begun = await app.begin(acme, purpose, attacker.token);
    const sent = await app.answer(acme, begun, user);
    rejected(t, await app.finish(acme, sent, victim.token), 400, 'provider_refused');
    rejected(t, await app.finish(acme, sent), 401, 'not_authenticated');
    const own = await app.answer(acme, await app.begin(acme, purpose, victim.token), user);
    rejected(t, await app.finish(acme, own, otherSession.token), 400, 'provider_refused');
  }
  t.strictSame(await app.identitiesOf(victim), []);
  t.strictSame(await app.identitiesOf(attacker), []);
});

t.test('a flow to log in gives no identity to the user of an access token', async (t) => {
  const owner = await createUser(app);
  const sent = await app.answer(acme, await app.begin(acme), newAccount());
  t.equal((await app.finish(acme, sent, owner.token)).body.data.code, 'sign_up_required');
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('a flow stays open while the client refreshes its token or confirms', async (t) => {
  const user = newAccount();
  const owner = await createUser(app);
  const sent = await app.answer(acme, await app.begin(acme, 'link', owner.token), user);
  tokenRejected(t, await app.finish(acme, sent, 'x.y.z'), 'malformed');
  await passConfirmation(app, owner);
  const unconfirmed = await app.finish(acme, sent, owner.token);
  rejected(t, unconfirmed, 403, 'confirmation_required', { methods: ['password'] });
  await pool.query('UPDATE sessions SET confirmed_at = now() WHERE user_id = $1', [owner.id]);
  t.equal((await app.finish(acme, sent, owner.token)).status, 201);
});

t.test('the callback leads to the page of the frontend, wherever a request wants to go', async (t) => {
  const attempts = [
    '?code=c&state=s&redirect_uri=https://evil.example.com&next=//evil.example.com',
    '?error=https://evil.example.com',
    '?code=c&state=s&code=d',
    '?code=c',
    '',
    `?code=${'c'.repeat(1500)}&state=${'s'.repeat(201)}`,
    '?code=%00%0d%0aSet-Cookie:x=1&state=%0d%0a',
  ];
  for (const query of attempts) {
    for (const id of ['acme', 'unknown', 'https:%2F%2Fevil.example.com', '..%2F..']) {
      const headers = { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com' };
      const response = await call('GET', `/auth/providers/${id}/callback/${query}`, { headers });
      t.equal(response.status, 303, `${id} ${query.slice(0, 100)}`);
      const location = String(response.headers['location']);
      t.equal(location.split('?')[0], 'https://app.example.com/login/callback');
      t.notMatch(location, /redirect_uri|next|\s|unknown|\.\.|%0|evil/i);
      t.notOk(response.headers['set-cookie']);
      t.match(response.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    }
  }
});

t.test('the callback passes on what the page needs, and nothing else', async (t) => {
  const locationOf = async (query: string) =>
    (await call('GET', `/auth/providers/kakao/callback/?${query}`)).headers['location'];
  const page = 'https://app.example.com/login/callback?provider=kakao';
  t.equal(await locationOf('code=a%26b&state=s&iss=x&session_state=y&user={}'), `${page}&code=a%26b&state=s`);
  t.equal(await locationOf('error=access_denied&error_description=x&state=s'), `${page}&error=access_denied`);
  t.equal(await locationOf('code=c&state=s&error=access_denied'), `${page}&error=access_denied`);
  t.equal(await locationOf('state=s'), `${page}&error=invalid_request`);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = await call('POST', '/auth/providers/kakao/callback/', { body: 'code=c&state=s', headers });
  t.equal(form.headers['location'], `${page}&code=c&state=s`);
});

t.test('a name beside the code of Apple changes nothing but the suggestion', async (t) => {
  const user = newAccount();
  const names: [string, string | null][] = [
    ['{"name":{"firstName":"Ada","lastName":"Lovelace"}}', 'Ada Lovelace'],
    ['{"name":{"firstName":"x"},"email":"victim@example.com","sub":"1"}', 'x'],
    ['{"name":"x"}', null],
    ['not json', null],
    [`{"name":{"firstName":"${'x'.repeat(3000)}"}}`, 'x'.repeat(50)],
    ['{"name":{"firstName":"a\\u202eb"}}', null],
  ];
  for (const [form, name] of names) {
    const sent = await app.answer(apple, await app.begin(apple), user, { user: form });
    const { body } = await app.finish(apple, sent);
    t.match(body.data, { code: 'sign_up_required', suggested: { name, email: user.email } }, form);
  }
});
