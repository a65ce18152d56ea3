import t from 'tap';
import { createUser, logIn, password, resetLinkIn, signUpUser, verifyEmails } from '../../support/app.ts';
import { rejected } from '../../support/assertions.ts';
import { newPassword } from '../accounts.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { acme, other, kakao, naver, call, post } = app;

async function verifiedUser() {
  const user = await createUser(app);
  await verifyEmails(app, user);
  return user;
}

t.test('an address is no way into an account, however well it is proved', async (t) => {
  const owner = await verifiedUser();
  const login = await app.logInWith(acme, newAccount({ email: owner.email.toUpperCase() }));
  rejected(t, login, 409, 'link_required', { link_token: login.body.data.link_token, expires_in: 600 });
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('an address that the provider has not proved does not even offer to link', async (t) => {
  const owner = await verifiedUser();
  const user = newAccount({ email: owner.email, isEmailProved: false });
  for (const provider of [acme, kakao, naver]) {
    const login = await app.logInWith(provider, user);
    t.match(
      login.body.data,
      { code: 'sign_up_required', suggested: { is_email_verified: false } },
      provider.id,
    );
    const fields = { email: owner.email };
    t.equal((await app.signUp(login.body.data.sign_up_token, fields)).body.data.code, 'email_taken');
  }
  acme.faults = { claims: { email_verified: 'true' } };
  t.equal((await app.logInWith(acme, user)).body.data.code, 'sign_up_required', 'a text is not true');
  acme.faults = {};
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('Kakao proves an address only when it is valid and verified', async (t) => {
  const owner = await verifiedUser();
  for (const [is_email_valid, is_email_verified] of [
    [true, false],
    [false, true],
    [undefined, true],
  ]) {
    const user = newAccount();
    const kakao_account = { email: owner.email, is_email_valid, is_email_verified };
    const answer = JSON.stringify({ id: Number(user.id), kakao_account });
    kakao.faults = { responses: { '/v2/user/me': (response) => void response.end(answer) } };
    t.equal((await app.logInWith(kakao, user)).body.data.code, 'sign_up_required');
  }
  kakao.faults = {};
});

t.test('an unverified account with the address is not offered: its user may be a stranger', async (t) => {
  const stranger = await createUser(app);
  const login = await app.logInWith(acme, newAccount({ email: stranger.email }));
  t.match(login.body.data, { code: 'sign_up_required', suggested: { is_email_verified: true } });
});

t.test('an account that a stranger opened with the address gives way (pre-hijacking)', async (t) => {
  const victim = newAccount();
  const stranger = await createUser(app, { email: victim.email });
  const backdoor = newAccount();
  t.equal((await app.logInWith(other, backdoor, 'link', stranger.token)).status, 201);
  const required = await app.logInWith(acme, victim);
  const done = await app.signUp(required.body.data.sign_up_token, { email: victim.email });
  t.match(done, { status: 201, body: { data: { user: { is_verified: true } } } });
  t.not(done.body.data.user.id, stranger.id);
  t.equal((await call('GET', '/auth/me/', { token: stranger.token })).status, 401);
  t.equal((await app.logInWith(other, backdoor)).body.data.code, 'sign_up_required');
});

t.test(
  'the first reset of a password removes the identities that were there before (pre-hijacking)',
  async (t) => {
    const victim = newAccount();
    const backdoor = newAccount({ email: victim.email, isEmailProved: false });
    const stranger = await app.signUpWith(naver, backdoor);
    await post('reset-password-request', { email: victim.email });
    const { uid, token } = resetLinkIn(await app.mailTo(victim.email, '/reset-password?'));
    const late = await app.answer(acme, await app.begin(acme, 'link', stranger.token), newAccount());
    const reset = { uid, token, new_password: newPassword };
    t.equal((await post('reset-password-confirm', reset)).status, 200);
    t.equal((await app.finish(acme, late, stranger.token)).status, 401, 'the session is over');
    t.equal((await app.logInWith(naver, backdoor)).body.data.code, 'sign_up_required');
    t.strictSame(await app.identitiesOf(stranger), []);
    await logIn(app, { username: stranger.username, password: newPassword });
  },
);

t.test('only the address that the provider has proved is verified by a sign-up', async (t) => {
  const victim = newAccount();
  const required = await app.logInWith(acme, newAccount());
  const done = await app.signUp(required.body.data.sign_up_token, { email: victim.email });
  t.match(done, { status: 201, body: { data: { user: { email: victim.email, is_verified: false } } } });
  t.match((await app.mails.next(victim.email)).text, /\d{6}/);
  const unproved = await app.logInWith(naver, newAccount());
  const { email } = unproved.body.data.suggested;
  const second = await app.signUp(unproved.body.data.sign_up_token, { email });
  t.match(second.body.data.user, { is_verified: false });
});

t.test('a token is bound to its identity, and an error does not use it up', async (t) => {
  const taken = await verifiedUser();
  const user = newAccount();
  const { sign_up_token: token } = (await app.logInWith(acme, user)).body.data;
  const [username, email] = [{ username: taken.username }, { email: taken.email }];
  t.equal((await app.signUp(token, { email: user.email, ...username })).body.data.code, 'username_taken');
  t.equal((await app.signUp(token, email)).body.data.code, 'email_taken');
  const forged = await app.signUp(token, { email: user.email, subject: '1', issuer: acme.url });
  t.equal(forged.body.data.code, 'validation_error');
  const badProof = { email: newAccount().email, verification_token: 'x' };
  t.equal((await app.signUp(token, badProof)).body.data.code, 'verification_token_invalid');
  t.equal((await app.signUp(token, { email: user.email })).status, 201);
  rejected(t, await app.signUp(token, { email: newAccount().email }), 400, 'sign_up_token_invalid');
});

t.test('a link token works with the account whose address it has, once, and with no other one', async (t) => {
  const [owner, attacker] = [await verifiedUser(), await verifiedUser()];
  const user = newAccount({ email: owner.email });
  const { link_token } = (await app.logInWith(acme, user)).body.data;
  const { link_token: second } = (await app.logInWith(acme, user)).body.data;
  rejected(t, await post('identities', { link_token }, { token: attacker.token }), 400, 'link_token_invalid');
  rejected(t, await post('identities', { link_token }), 401, 'not_authenticated');
  await app.age(owner);
  const stale = await post('identities', { link_token }, { token: owner.token });
  rejected(t, stale, 403, 'confirmation_required', { methods: ['password'] });
  const { token } = await logIn(app, owner);
  t.match(await post('identities', { link_token }, { token }), {
    status: 201,
    body: { data: { provider: 'acme' } },
  });
  rejected(t, await post('identities', { link_token }, { token }), 400, 'link_token_invalid');
  rejected(t, await post('identities', { link_token: second }, { token }), 409, 'identity_taken');
  t.equal((await app.logInWith(acme, user)).body.data.user.id, owner.id);
});

t.test('an identity belongs to one account, and is not added again', async (t) => {
  const user = newAccount();
  const [owner, attacker] = [await verifiedUser(), await verifiedUser()];
  t.equal((await app.logInWith(acme, user, 'link', owner.token)).status, 201);
  for (const { token } of [attacker, owner]) {
    rejected(t, await app.logInWith(acme, user, 'link', token), 409, 'identity_taken');
  }
  t.equal((await app.logInWith(acme, user)).body.data.user.id, owner.id);
});

t.test('the same subject at another issuer is another person', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  const namesake = await app.logInWith(other, { ...user, email: 'namesake@example.com' });
  t.equal(namesake.body.data.code, 'sign_up_required');
  t.match(await app.identitiesOf(account), [{ issuer: acme.url, subject: user.id }]);
});

t.test('another person who gets an address at the provider gets no account with it', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  const successor = newAccount({ email: user.email });
  t.equal((await app.logInWith(acme, successor)).body.data.code, 'link_required');
  const moved = await app.logInWith(acme, { ...user, email: (await verifiedUser()).email });
  t.equal(moved.body.data.user.id, account.id, 'and a changed address leads to no other account');
});

t.test('a login with an identity of another account confirms nothing', async (t) => {
  const [victim, attacker] = [newAccount(), newAccount()];
  const account = await app.signUpWith(acme, victim);
  await app.signUpWith(acme, attacker);
  await app.age(account);
  for (const user of [attacker, newAccount()]) {
    rejected(t, await app.logInWith(acme, user, 'confirm', account.token), 400, 'provider_refused');
  }
  const start = await post('providers/acme/start', { purpose: 'link' }, { token: account.token });
  rejected(t, start, 403, 'confirmation_required', { methods: ['acme'] });
});

t.test('a stolen access token neither adds nor removes an identity after ten minutes', async (t) => {
  const account = await app.signUpWith(acme, newAccount());
  await app.age(account);
  const [identity] = await app.identitiesOf(account);
  const { token } = account;
  const methods = { methods: ['acme'] };
  rejected(
    t,
    await post('providers/kakao/start', { purpose: 'link' }, { token }),
    403,
    'confirmation_required',
    methods,
  );
  const removal = await call('DELETE', `/auth/identities/${identity.id}/`, { token });
  rejected(t, removal, 403, 'confirmation_required', methods);
  const deletion = await call('DELETE', '/auth/me/', { token, body: {} });
  rejected(t, deletion, 403, 'confirmation_required', methods);
});

t.test('the last way to log in stays, and the identity of another account is not found', async (t) => {
  const [account, stranger] = [await app.signUpWith(acme, newAccount()), await verifiedUser()];
  const remove = (id: number | string, token = account.token) =>
    call('DELETE', `/auth/identities/${id}/`, { token });
  const [identity] = await app.identitiesOf(account);
  rejected(t, await remove(identity.id), 409, 'last_login_method');
  rejected(t, await remove(identity.id, stranger.token), 404, 'identity_not_found');
  for (const id of ['0', 'x', '99999999999']) rejected(t, await remove(id), 404, 'identity_not_found');
  const second = newAccount();
  const linked = await app.logInWith(kakao, second, 'link', account.token);
  t.equal((await remove(linked.body.data.id)).status, 200);
  t.equal((await app.logInWith(kakao, second)).body.data.code, 'sign_up_required', 'it logs in no more');
  await app.mailTo(account.email, '카카오');
});

t.test('with a password, the only identity can go', async (t) => {
  const owner = await signUpUser(app);
  const linked = await app.logInWith(acme, newAccount(), 'link', owner.token);
  t.equal(
    (await call('DELETE', `/auth/identities/${linked.body.data.id}/`, { token: owner.token })).status,
    200,
  );
  await logIn(app, { username: owner.username, password });
});

t.test('after an undone change of email no identity is added with the password', async (t) => {
  const owner = await verifiedUser();
  await app.pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [owner.id]);
  rejected(
    t,
    await post('providers/acme/start', { purpose: 'link' }, { token: owner.token }),
    403,
    'forbidden',
  );
});
