import t from 'tap';
import { createUser, logIn, resetLinkIn } from '../../support/app.ts';
import { rejected, tally, tokenRejected } from '../../support/assertions.ts';
import { during, inOrder, inParallel } from '../../support/concurrency.ts';
import { countRows } from '../../support/rows.ts';
import { newPassword } from '../accounts.ts';
import { passConfirmation } from '../authenticator.ts';
import { createVerifiedUser } from '../mailbox.ts';
import { newAccount, startProviders } from './setup.ts';

const app = await startProviders();
const { acme, other, kakao, naver, call, post } = app;

t.test('an address that the provider has not proved does not even offer to link', async (t) => {
  const owner = await createVerifiedUser(app);
  const user = newAccount({ email: owner.email, isEmailProved: false });
  for (const provider of [acme, kakao, naver]) {
    const login = await app.logInWith(provider, user);
    const { data } = login.body;
    t.match(data, { code: 'sign_up_required', suggested: { is_email_verified: false } }, provider.id);
    t.equal((await app.signUp(data.sign_up_token, { email: owner.email })).body.data.code, 'email_taken');
  }
  const asText = { claims: { email_verified: 'true' } };
  const login = await app.withFaults(acme, asText, () => app.logInWith(acme, user));
  t.equal(login.body.data.code, 'sign_up_required', 'a text is not true');
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('Kakao proves an address only when it is valid and verified', async (t) => {
  const owner = await createVerifiedUser(app);
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

t.test('the first reset of a password removes earlier identities (pre-hijacking)', async (t) => {
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
});

t.test('only the address that the provider has proved is verified by a sign-up', async (t) => {
  const victim = newAccount();
  const required = await app.logInWith(acme, newAccount());
  const done = await app.signUp(required.body.data.sign_up_token, { email: victim.email });
  t.match(done, { status: 201, body: { data: { user: { email: victim.email, is_verified: false } } } });
  t.match((await app.mails.next(victim.email)).text, /\d{6}/);
});

t.test('a token is bound to its identity, and an error does not use it up', async (t) => {
  const taken = await createVerifiedUser(app);
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
});

t.test('a link token works with the account whose address it has, and with no other one', async (t) => {
  const [owner, attacker] = [await createVerifiedUser(app), await createVerifiedUser(app)];
  const user = newAccount({ email: owner.email.toUpperCase() });
  const login = await app.logInWith(acme, user);
  const { link_token } = login.body.data;
  rejected(t, login, 409, 'link_required', { link_token, expires_in: 600 });
  const { link_token: second } = (await app.logInWith(acme, user)).body.data;
  rejected(t, await post('identities', { link_token }, { token: attacker.token }), 400, 'link_token_invalid');
  rejected(t, await post('identities', { link_token }), 401, 'not_authenticated');
  t.strictSame(await app.identitiesOf(owner), []);
  const { token } = owner;
  const linked = await post('identities', { link_token }, { token });
  t.match(linked, { status: 201, body: { data: { provider: 'acme' } } });
  rejected(t, await post('identities', { link_token: second }, { token }), 409, 'identity_taken');
  t.equal((await app.logInWith(acme, user)).body.data.user.id, owner.id);
});

t.test('an identity belongs to one account, and is not added again', async (t) => {
  const user = newAccount();
  const [owner, attacker] = [await createVerifiedUser(app), await createVerifiedUser(app)];
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

t.test('an address that changes at the provider leads to no other account', async (t) => {
  const user = newAccount();
  const account = await app.signUpWith(acme, user);
  const moved = await app.logInWith(acme, { ...user, email: (await createVerifiedUser(app)).email });
  t.equal(moved.body.data.user.id, account.id);
});

t.test('a login with an identity of another account confirms nothing', async (t) => {
  const [victim, attacker] = [newAccount(), newAccount()];
  const account = await app.signUpWith(acme, victim);
  await app.signUpWith(acme, attacker);
  await passConfirmation(app, account);
  for (const user of [attacker, newAccount()]) {
    rejected(t, await app.logInWith(acme, user, 'confirm', account.token), 400, 'provider_refused');
  }
  const start = await post('providers/acme/start', { purpose: 'link' }, { token: account.token });
  rejected(t, start, 403, 'confirmation_required', { methods: ['acme'] });
});

t.test('one way to log in stays, also under concurrent use; a foreign identity is not found', async (t) => {
  const [account, stranger] = [await app.signUpWith(acme, newAccount()), await createVerifiedUser(app)];
  const remove = (id: number | string, { token }: { token: string } = account) =>
    app.removeIdentity(id, token);
  const [identity] = await app.identitiesOf(account);
  rejected(t, await remove(identity.id, stranger), 404, 'identity_not_found');
  for (const id of ['0', 'x', '99999999999']) rejected(t, await remove(id), 404, 'identity_not_found');
  const second = newAccount();
  const linked = await app.logInWith(kakao, second, 'link', account.token);
  const remover = (id: number) => () => remove(id);
  const removals = await inOrder(t, app, account, remover(linked.body.data.id), remover(identity.id));
  t.strictSame(tally(removals), { '200': 1, '409 last_login_method': 1 });
  t.equal((await app.identitiesOf(account)).length, 1);
  t.equal((await app.logInWith(kakao, second)).body.data.code, 'sign_up_required', 'it logs in no more');
  await app.mailTo(account.email, '카카오');
});

t.test('of concurrent finishes of one flow, one asks the provider', async (t) => {
  const user = newAccount();
  await app.signUpWith(acme, user);
  const sent = await app.answer(acme, await app.begin(acme), user);
  acme.requests.length = 0;
  const responses = await inParallel(5, () => app.finish(acme, sent));
  t.strictSame(tally(responses), { '200': 1, '400 provider_refused': 4 });
  t.equal(acme.requests.length, 1);
});

t.test('of concurrent sign-ups with one token, one creates an account', async (t) => {
  const user = newAccount();
  const { sign_up_token } = (await app.logInWith(acme, user)).body.data;
  const responses = await inParallel(4, () => app.signUp(sign_up_token, { email: user.email }));
  t.strictSame(tally(responses), { '201': 1, '400 sign_up_token_invalid': 3 });
});

t.test('of concurrent sign-ups with one identity, one creates an account, others leave none', async (t) => {
  const user = newAccount();
  const tokens = await inParallel(3, async () => (await app.logInWith(acme, user)).body.data.sign_up_token);
  const emails = tokens.map(() => newAccount().email);
  const responses = await inParallel(3, (index) => app.signUp(tokens[index], { email: emails[index] }));
  t.strictSame(tally(responses), { '201': 1, '409 identity_taken': 2 });
  t.equal(await countRows(app, 'users WHERE email = ANY ($1)', emails), 1);
});

t.test('of two accounts that link one identity at once, one gets it', async (t) => {
  const user = newAccount();
  const owners = await inParallel(2, () => createUser(app));
  const flows = await inParallel(2, async (index) =>
    app.answer(acme, await app.begin(acme, 'link', owners[index]?.token), user),
  );
  const responses = await inParallel(2, (index) =>
    app.finish(acme, flows[index] ?? {}, owners[index]?.token),
  );
  t.strictSame(tally(responses), { '201': 1, '409 identity_taken': 1 });
});

t.test('of concurrent uses of a link token, one adds the identity', async (t) => {
  const owner = await createVerifiedUser(app);
  const { link_token } = (await app.logInWith(acme, newAccount({ email: owner.email }))).body.data;
  const responses = await inParallel(3, () => post('identities', { link_token }, { token: owner.token }));
  t.strictSame(tally(responses), { '201': 1, '400 link_token_invalid': 2 });
});

t.test('an identity that is linked while a reset ends the session is not added', async (t) => {
  const owner = await createUser(app);
  const sent = await app.answer(acme, await app.begin(acme, 'link', owner.token), newAccount());
  // As the transaction of a reset: it locks the account, and ends the sessions.
  const reset = `UPDATE users SET is_verified = true WHERE id = ${owner.id};
    DELETE FROM sessions WHERE user_id = ${owner.id}`;
  tokenRejected(t, await during(t, app, [reset], () => app.finish(acme, sent, owner.token)), 'revoked');
  t.strictSame(await app.identitiesOf(owner), []);
});

t.test('a flow that begins while its account is deleted can be finished by no one', async (t) => {
  for (const path of ['providers/acme/start', 'passkeys/register/start']) {
    const { id, token } = await createUser(app);
    const start = () => post(path, path.startsWith('passkeys') ? {} : { purpose: 'link' }, { token });
    const { body } = await during(t, app, ['DELETE FROM users WHERE id = $1', id], start);
    const [flow] = String(body.data.flow_token).split('.');
    const { rows } = await app.pool.query('SELECT user_id FROM login_flows WHERE id = $1', [flow]);
    t.strictSame(rows, [{ user_id: null }], path);
  }
});
