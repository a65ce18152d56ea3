import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { createDerivedSecrets } from '../../src/domains/auth/tokens.ts';
import { toSecret } from '../../src/infrastructure/config/secrets.ts';
import { passConfirmation, secondFactorOf } from '../auth/authenticator.ts';
import { developmentLogin } from '../auth/development-login.ts';
import { undoTokenIn } from '../auth/mailbox.ts';
import { origin, passkeysOf } from '../auth/passkeys.ts';
import { production } from '../config/environments.ts';
import { pushesOf } from '../push/subscribed.ts';
import { createAdmin } from '../support/admin.ts';
import {
  type CallOptions,
  codeIn,
  createTestApp,
  createUser,
  logIn,
  password,
  resetLinkIn,
  signUpUser,
  suspend,
  type TestApp,
  testEnvironment,
} from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { contract } from '../support/contract.ts';
import { createTestDatabase } from '../support/database.ts';
import { listen, rawCall } from '../support/raw-http.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import { operations as every, validBody } from './operations.ts';

t.ok(every.length >= 60, 'every operation is walked');

const withoutEnvelope = [
  '/health/live',
  '/health/ready',
  '/.well-known/jwks.json',
  '/.well-known/openid-configuration',
  '/auth/providers/development/callback/?code=x&state=x',
];

/** Every status and code that a response had, as `logIn 401 invalid_credentials`. */
const seen = new Set<string>();

/** Makes requests as the app does, and compares every response with the document. */
function checked(t: Test, app: Pick<TestApp, 'call'>): TestApp['call'] {
  return async (method, path, options) => {
    const response = await app.call(method, path, options);
    t.strictSame(contract.problems(method, path, response), [], `${method} ${path} ${response.status}`);
    const id = contract.operationOf(method, path)?.operationId;
    seen.add([id, response.status, response.body?.data?.code].join(' ').trim());
    return response;
  };
}

/** Where a request of an operation goes. */
function urlOf({ path, operationId }: { path: string; operationId: string }): string {
  const query = operationId === 'validatePasswordReset' ? `?uid=${randomUUID()}&token=${'x'.repeat(22)}` : '';
  return path.replace('{session_id}', randomUUID()).replace(/\{\w+\}/g, '1') + query;
}

t.test('responses about accounts and sessions are documented', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const call = checked(t, app);
  const user = await signUpUser({ call });
  const { token, username, email } = user;
  const body = { username: 'somebody', password, name: '김두레', email: 'somebody@example.com' };

  await call('POST', '/auth/signup/', { body: { ...body, username } });
  await call('POST', '/auth/signup/', { body: { ...body, email } });
  await call('POST', '/auth/signup/', { body: { ...body, verification_token: 'x' } });
  const headers = { 'idempotency-key': 'once' };
  await call('POST', '/auth/signup/', { body, headers });
  await call('POST', '/auth/signup/', { body, headers });
  await call('POST', '/auth/signup/', { body: { ...body, name: '다른' }, headers });

  await call('GET', '/auth/me/', { token });
  await call('PATCH', '/auth/me/', { token, body: { name: '두레' } });

  await call('GET', '/auth/consents/');
  await call('PATCH', '/auth/me/consents/', { token, body: { terms: '2026-01-31', marketing: false } });
  await call('GET', '/auth/me/consents/', { token });
  for (let download = 0; download < 6; download++) await call('GET', '/auth/me/data/', { token });
  await app.pool.query("UPDATE sessions SET created_at = now() - interval '1 hour' WHERE user_id = $1", [
    user.id,
  ]);
  await call('GET', '/auth/me/data/', { token });

  await call('POST', '/auth/login/', { body: { username, password: 'wrong-password' } });
  const second = await logIn({ call }, user);
  await call('GET', '/auth/sessions/?limit=1', { token });
  const page = await call('GET', '/auth/sessions/?limit=1', { token });
  await call('GET', `/auth/sessions/?cursor=${page.body.data.next_cursor}`, { token });
  await call('GET', '/auth/sessions/?cursor=x', { token });
  await call('DELETE', `/auth/sessions/${page.body.data.items[0].id}/`, { token });
  await call('DELETE', `/auth/sessions/${randomUUID()}/`, { token });
  await call('DELETE', '/auth/sessions/', { token });

  await call('POST', '/auth/token/refresh/', { body: { refresh: user.refresh } });
  await call('POST', '/auth/token/refresh/', { body: { refresh: second.refresh } });
  const inCookie = { 'x-refresh-token': 'cookie' };
  await call('POST', '/auth/login/', { body: { username, password }, headers: inCookie });
  await call('POST', '/auth/token/refresh/', { body: {}, headers: inCookie });
  await call('POST', '/auth/logout/', { body: {} });
  await call('POST', '/auth/logout/', { body: { refresh: 'x' } });
  await call('POST', '/auth/logout/', { token });

  const changing = await signUpUser({ call });
  const change = (current: string, next: string) =>
    call('POST', '/auth/change-password/', {
      token: changing.token,
      body: { current_password: current, new_password: next },
    });
  await change(password, 'bibimbap-for-two');
  for (let attempt = 0; attempt < 11; attempt++) await change('wrong-password', 'japchae-for-three');

  const moving = await signUpUser({ call });
  const move = (fields: object) =>
    call('POST', '/auth/change-email/', {
      token: moving.token,
      body: { password, new_email: 'moved@example.com', code: '123456', ...fields },
    });
  await move({ new_email: moving.email });
  await move({});
  for (let attempt = 0; attempt < 11; attempt++) await move({ password: 'wrong-password' });

  const leaving = await signUpUser({ call });
  const remove = (secret: string) =>
    call('DELETE', '/auth/me/', { token: leaving.token, body: { password: secret } });
  for (let attempt = 0; attempt < 11; attempt++) await remove('wrong-password');
  const gone = await signUpUser({ call });
  await call('DELETE', '/auth/me/', { token: gone.token, body: { password } });

  for (let attempt = 0; attempt < 11; attempt++) {
    await call('POST', '/auth/login/', { body: { username: 'stranger', password: 'wrong-password' } });
  }
  const suspended = await signUpUser({ call });
  await app.pool.query('UPDATE users SET suspended_at = now() WHERE id = $1', [suspended.id]);
  await call('POST', '/auth/login/', { body: { username: suspended.username, password } });
});

t.test('responses about logins with providers are documented', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const call = checked(t, app);
  const browser: Pick<TestApp, 'call'> = {
    call: (method, path, options) => (path.startsWith('/dev/') ? app : { call }).call(method, path, options),
  };
  const begin = (subject: string, fields: object = {}, options: { purpose?: string; token?: string } = {}) =>
    developmentLogin(browser, { subject, ...fields }, options);
  const logInAs = async (...given: Parameters<typeof begin>) => (await begin(...given)).finish();
  const newToken = async (subject: string) => (await logInAs(subject)).body.data.sign_up_token;
  const fields = { username: 'somebody', name: '김두레', email: 'somebody@example.com' };
  const signUp = (sign_up_token: string, changes: object = {}) =>
    call('POST', '/auth/providers/sign-up/', { body: { sign_up_token, ...fields, ...changes } });
  const add = (link_token: string, token: string) =>
    call('POST', '/auth/identities/', { body: { link_token }, token });
  const setOwner = (change: string) => app.pool.query(`UPDATE users SET ${change} WHERE id = $1`, [owner.id]);
  const setSessions = (time: string) => app.pool.query(`UPDATE sessions SET created_at = ${time}`);

  const owner = await signUpUser({ call });
  const { token, username, email } = owner;
  const [first, second] = [await newToken('first'), await newToken('first')];
  await signUp(first, { username });
  await signUp(first, { email });
  await signUp(first, { verification_token: 'x' });
  const { access } = (await signUp(first)).body.data;
  await signUp(first);
  await signUp(second, { username: 'another', email: 'another@example.com' });
  await logInAs('first');
  await logInAs('first', {}, { purpose: 'confirm', token: access });
  await call('GET', '/auth/identities/?cursor=x', { token });
  const [{ id: last }] = (await call('GET', '/auth/identities/', { token: access })).body.data.items;
  await call('DELETE', `/auth/identities/${last}/`, { token: access });
  await call('DELETE', '/auth/identities/1234567/', { token: access });
  const linked = await logInAs('second', {}, { purpose: 'link', token });
  await logInAs('second', {}, { purpose: 'link', token });
  await call('DELETE', `/auth/identities/${linked.body.data.id}/`, { token });

  await setOwner('is_verified = true');
  const proved = { email, is_email_proved: 'true' };
  const [third, fourth] = [await logInAs('third', proved), await logInAs('third', proved)];
  await add('x', token);
  await add(third.body.data.link_token, token);
  await add(fourth.body.data.link_token, token);

  const begun = await begin('fourth', {}, { purpose: 'link', token });
  const finishPath = '/auth/providers/development/finish/';
  await call('POST', finishPath, { body: begun.body });
  const start = (given?: string) =>
    call('POST', '/auth/providers/development/start/', { body: { purpose: 'link' }, token: given });
  await start();
  const rejectEach = async () => {
    await start(token);
    await begun.finish();
    await add('x', token);
    await call('DELETE', `/auth/identities/${last}/`, { token });
  };
  await setSessions("now() - interval '1 hour'");
  await rejectEach();
  await setSessions('now()');
  await setOwner('needs_reset = true');
  await rejectEach();
  await call('POST', finishPath, { body: { ...begun.body, flow_token: 'x' } });
  for (const [path, body] of [
    ['start', { purpose: 'login' }],
    ['finish', begun.body],
  ] as const)
    await call('POST', `/auth/providers/unknown/${path}/`, { body });

  await app.pool.query("INSERT INTO second_factors (user_id, secret, confirmed_at) VALUES ($1, 'x', now())", [
    owner.id,
  ]);
  await logInAs('third');
  await setOwner('suspended_at = now()');
  await logInAs('third');
});

t.test('responses about mailed codes and links are documented', async (t) => {
  const app = await createTestApp();
  t.teardown(app.close);
  const call = checked(t, app);
  const address = 'proof@example.com';
  await call('POST', '/auth/email-verify/send/', { body: { email: address } });
  const code = codeIn(await app.mails.next(address));
  const confirm = (value: string) =>
    call('POST', '/auth/email-verify/confirm/', { body: { email: address, code: value } });
  await confirm(code === '000000' ? '000001' : '000000');
  const verified = await confirm(code);
  const { verification_token } = verified.body.data;
  const user = await signUpUser({ call }, { email: address, verification_token });
  const guesses = { email: 'guesses@example.com' };
  await call('POST', '/auth/email-verify/send/', { body: guesses });
  const right = codeIn(await app.mails.next(guesses.email));
  for (let attempt = 0; attempt < 7; attempt++) {
    const wrong = String((Number(right) + 1 + attempt) % 1_000_000).padStart(6, '0');
    await call('POST', '/auth/email-verify/confirm/', { body: { ...guesses, code: wrong } });
  }

  const moved = 'moved@example.com';
  const move = (email: string, value: string) =>
    call('POST', '/auth/change-email/', {
      token: user.token,
      body: { password, new_email: email, code: value },
    });
  await call('POST', '/auth/email-verify/send/', { body: { email: moved } });
  await move(moved, codeIn(await app.mails.next(moved)));
  const undoToken = undoTokenIn(await app.mails.next(address, 1));
  const undo = (value: string) => call('POST', '/auth/change-email/undo/', { body: { token: value } });
  await call('POST', '/auth/change-email/', {
    token: user.token,
    body: { password, new_email: 'unproven@example.com', verification_token: 'x' },
  });
  await undo('x');
  const squatter = await signUpUser({ call }, { email: address });
  await app.pool.query('UPDATE users SET is_verified = true WHERE id = $1', [squatter.id]);
  await undo(undoToken);
  await app.pool.query('DELETE FROM users WHERE id = $1', [squatter.id]);
  const held = 'held@example.com';
  await call('POST', '/auth/email-verify/send/', { body: { email: held } });
  const heldCode = codeIn(await app.mails.next(held));
  await signUpUser({ call }, { email: held });
  await move(held, heldCode);
  await undo(undoToken);
  const { token: recovering } = await logIn({ call }, user);
  const passwords = { current_password: password, new_password: 'bibimbap-for-two' };
  await call('POST', '/auth/change-password/', { token: recovering, body: passwords });
  await call('POST', '/auth/change-email/', {
    token: recovering,
    body: { password, new_email: moved, code: '123456' },
  });
  await call('DELETE', '/auth/me/', { token: recovering, body: { password } });
  await call('GET', '/auth/me/data/', { token: recovering });

  await call('POST', '/auth/find-id/', { body: { email: address } });
  await call('POST', '/auth/find-id/', { body: { email: 'unknown@example.com' } });
  await call('POST', '/auth/reset-password-request/', { body: { email: user.email } });
  await app.mails.settled();
  const mail = app.mails.sent.findLast(({ to, text }) => to === address && text.includes('/reset-password?'));
  if (!mail) throw new Error('there is no email with a link');
  const { uid, token } = resetLinkIn(mail);
  const reset = (fields: object) =>
    call('POST', '/auth/reset-password-confirm/', {
      body: { uid, token, new_password: 'bibimbap-for-two', ...fields },
    });
  await call('GET', `/auth/reset-password-validate/?uid=${uid}&token=${token}`);
  await call('GET', `/auth/reset-password-validate/?uid=${uid}&token=x`);
  await reset({ token: 'x' });
  await reset({});
});

t.test('responses about the second factor and confirmations are documented', async (t) => {
  const app = await createTestApp();
  const call = checked(t, app);
  const checkedApp = { ...app, call };
  const {
    begin,
    confirm,
    switchOn,
    status,
    newRecoveryCodes,
    remove,
    firstFactor,
    finishLogin,
    confirmUser,
  } = secondFactorOf(checkedApp);
  const changes = [begin, (token: string) => confirm(token, '123456'), newRecoveryCodes, remove];
  const user = await createUser(app);
  await newRecoveryCodes(user.token);
  await confirm(user.token, '123456');
  const { code, wrong, recoveryCodes } = await switchOn(user);
  for (const operation of [status, begin, newRecoveryCodes]) await operation(user.token);
  await confirm(user.token, await code());
  await confirmUser(user.token, { password });
  await confirmUser(user.token, { password: 'wrong-password' });
  await confirmUser(user.token, { code: wrong() });
  const second = await firstFactor(user);
  await finishLogin(second, wrong());
  await finishLogin(second, await code());

  const suspended = await createUser(app);
  const own = await switchOn(suspended);
  const open = await firstFactor(suspended);
  await suspend(app, suspended);
  await finishLogin(open, own.recoveryCodes[0] ?? '');

  await app.pool.query('UPDATE users SET password_hash = NULL WHERE id = $1', [user.id]);
  await passConfirmation(app, user);
  for (const change of changes) await change(user.token);
  const { token } = user;
  const change = { new_email: 'elsewhere@example.com', code: '123456' };
  await call('POST', '/auth/change-email/', { token, body: change });
  await call('DELETE', '/auth/me/', { token, body: {} });
  await app.pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [user.id]);
  for (const change of changes) await change(token);
  await confirmUser(token, { code: recoveryCodes[0] ?? '' });

  const guessing = await createUser(app);
  const third = await switchOn(guessing);
  const late = await firstFactor(guessing);
  await finishLogin('x', third.wrong());
  for (let attempt = 0; attempt < 11; attempt++) await confirmUser(guessing.token, { code: third.wrong() });
  await finishLogin(late, third.wrong());
  await confirm(guessing.token, '123456');
  await remove(guessing.token);
});

t.test('responses about saved searches are documented', async (t) => {
  const app = await createTestApp();
  const call = checked(t, app);
  const { token } = await createUser(app);
  const path = '/api/v1/saved-searches/';
  const save = (body: object) => call('POST', path, { token, body });
  for (let count = 0; count < 21; count++) await save({ name: '동네', region: '망원동' });
  await save({ name: '동네' });
  const [{ id }] = (await call('GET', `${path}?limit=1`, { token })).body.data.items;
  for (const _ of ['found', 'not found']) await call('DELETE', `${path}${id}/`, { token });
  await call('GET', `${path}?cursor=x`, { token });
});

t.test('responses about passkeys are documented', async (t) => {
  const app = await createTestApp();
  const passkeys = passkeysOf({ ...app, call: checked(t, app) });
  const { register, startRegistration, finishRegistration, startLogin, list, rename, remove } = passkeys;
  const { passkey, authenticator, ...owner } = await passkeys.createOwner();
  const { token } = owner;
  await passkeys.logIn(authenticator);
  await passkeys.logIn(authenticator, { origin: 'https://elsewhere.example.com' });
  await register(owner, createAuthenticator(origin), { origin: 'https://elsewhere.example.com' });
  await list(token);
  await list(token, '?cursor=x');
  await rename(token, passkey.id, '내 휴대폰');
  await rename(token, 0, '내 휴대폰');
  await remove(token, 0);
  await passkeys.removePassword(owner);
  await remove(token, passkey.id);

  const last = await startRegistration(token);
  const body = {
    flow_token: last.body.data.flow_token,
    credential: createAuthenticator(origin).create(last.body.data.options),
  };
  for (let count = 1; count < 10; count++) await register(owner);
  await startRegistration(token);
  await finishRegistration(token, body);
  const changes = async () => {
    await startRegistration(token);
    await finishRegistration(token, { ...body, flow_token: 'x' });
    await remove(token, passkey.id);
  };
  await passConfirmation(app, owner);
  await changes();
  await app.pool.query('UPDATE users SET needs_reset = true WHERE id = $1', [owner.id]);
  await changes();
  const { authenticator: other, ...leaving } = await passkeys.createOwner();
  await remove(leaving.token, leaving.passkey.id);
  await startLogin();
  await suspend(app, owner);
  await passkeys.logIn(authenticator);
});

t.test('responses about push messages are documented', async (t) => {
  const app = await createTestApp();
  const { key, add, list, remove, service } = await pushesOf(t, { ...app, call: checked(t, app) });
  const user = await createUser(app);
  await key(user);
  for (let count = 0; count < 11; count++) await add(user, service.subscribe().subscription);
  const [{ id }] = (await list(user, '?limit=1')).body.data.items;
  const { subscription } = service.subscribe();
  await remove(user, id);
  await remove(user, id);
  await add(user, subscription);
  await add(user, subscription);
  await add(user, { ...subscription, endpoint: 'https://10.0.0.1/' });
  await list(user, '?cursor=x');
  const { JWT_SECRET: _, DATABASE_URL: __, ...environment } = production;
  const off = await createTestApp({ ...environment, WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
  const nothing = await pushesOf(t, { ...off, call: checked(t, off) });
  await nothing.key(user);
  await nothing.add(user, subscription);
  await nothing.list(user);
  await nothing.remove(user, id);
});

t.test(
  'every operation rejects unreadable bodies and tokens, and checks who calls before the input',
  async (t) => {
    const app = await createTestApp({ WORKER_ENABLED: 'false' });
    t.teardown(app.close);
    const call = checked(t, app);
    const user = await createAdmin(app);
    const json = { 'content-type': 'application/json' };
    for (const operation of every) {
      const { method, operationId, security = [] } = operation;
      const token = security.length > 0 ? user.token : undefined;
      const send = (options: CallOptions) => call(method, urlOf(operation), { token, ...options });
      const takesFile = operation.requestBody?.content['multipart/form-data'] !== undefined;
      const unsupported = takesFile
        ? ['application/json', 'text/plain', 'image/png']
        : ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16'];
      const readsForms = operationId === 'unsubscribe';
      for (const type of method === 'GET' ? [] : unsupported) {
        if (readsForms && type.includes('form')) continue;
        const response = await send({ body: 'a=b', headers: { 'content-type': type } });
        rejected(t, response, 415, 'unsupported_media_type');
      }
      if (method !== 'GET' && !takesFile) {
        const malformed = ['{', '{"a":1}{"b":2}', '[', '{"a":'.repeat(5_000)];
        for (const body of malformed) rejected(t, await send({ body, headers: json }), 400, 'malformed_json');
        const tooLarge = await send({ body: ' '.repeat(128 * 1024 + 1), headers: json });
        rejected(t, tooLarge, 413, 'payload_too_large');
      }
      const url = urlOf(operation);
      const wrong = `${url}${url.includes('?') ? '&' : '?'}unknown=1`;
      await call(method, wrong, { token });
      const input = method === 'GET' ? {} : { body: { unknown: 1 } };
      const isRequired = security.length > 0 && security.every((one) => 'bearer' in one);
      const anonymous = await call(method, wrong, input);
      const asks = anonymous.body.data.code === 'not_authenticated';
      t.equal(asks, isRequired && operationId !== 'logOut', `${operationId}: the documented security`);
      const unknown = await call(method, wrong, { ...input, token: 'not-a-token' });
      t.equal(unknown.body.data.code === 'token_not_valid', security.length > 0, operationId);
    }
  },
);

t.test('responses beyond the rate limits are documented', async (t) => {
  const app = await createTestApp({ RATE_LIMIT_ENABLED: 'true', WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const call = checked(t, app);
  for (const operation of every) {
    for (let request = 0; request < 300; request++) {
      const { status } = await app.call(operation.method, urlOf(operation), { body: undefined });
      if (status === 429) break;
    }
    await call(operation.method, urlOf(operation));
  }
});

t.test('responses of a broken service and without the database are documented', async (t) => {
  const database = await createTestDatabase();
  const proxy = await createTcpProxy(t, database);
  const app = await createTestApp(
    { WORKER_ENABLED: 'false' },
    { serverErrors: true, databaseUrl: proxy.url },
  );
  t.teardown(app.close);
  const call = checked(t, app);
  const user = await createAdmin(app);
  const { token, refresh } = user;
  // Genuine tokens, which are checked in the database.
  const { newToken } = createDerivedSecrets([toSecret(Buffer.from(testEnvironment.JWT_SECRET))]);
  const [uid = '', resetToken = ''] = newToken('password reset', randomUUID()).split('.');
  const newUser = { username: 'somebody', name: '김두레', email: 'somebody@example.com' };
  const bodies: Record<string, unknown> = {
    refreshToken: { refresh },
    logOut: undefined,
    finishLogin: { second_factor_token: newToken('second_factor flow', randomUUID()), code: '123456' },
    undoEmailChange: { token: newToken('email change', randomUUID()) },
    signUpWithProvider: { sign_up_token: newToken('sign_up flow', randomUUID()), ...newUser },
    confirmPasswordReset: { uid, token: resetToken, new_password: 'bibimbap-for-two' },
  };
  const send = (operation: (typeof every)[number]) => {
    const { operationId, method } = operation;
    const body = operationId in bodies ? bodies[operationId] : validBody(operation);
    const isLink = operationId === 'validatePasswordReset';
    const url = isLink ? `${operation.path}?uid=${uid}&token=${resetToken}` : urlOf(operation);
    return call(method, url, { token, body });
  };
  for (const path of withoutEnvelope) await call('GET', path);

  await proxy.cut();
  for (const operation of every) await send(operation);
  for (const path of withoutEnvelope) await call('GET', path);
  await proxy.restore();

  const { rows } = await app.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of rows)
    await app.pool.query(`ALTER TABLE ${tablename} RENAME TO lost_${tablename}`);
  for (const operation of every) await send(operation);

  const port = await listen(app.app);
  for (const path of withoutEnvelope) {
    const start = `GET ${path} HTTP/1.1\r\nHost: x\r\n`;
    for (const rest of ['Bad Header: 1\r\n\r\n', `X-Large: ${'a'.repeat(20_000)}\r\n\r\n`]) {
      t.strictSame(contract.problems('GET', path, await rawCall(port, start + rest)), []);
    }
  }
});

t.test('every status and code that is documented was sent', async (t) => {
  const ofAccounts = every.filter(({ path }) => path.startsWith('/auth/'));
  t.ok(ofAccounts.length >= 19);
  for (const { operationId, responses } of ofAccounts) {
    for (const [status, { content }] of Object.entries(responses)) {
      const examples = Object.keys(content?.['application/json']?.examples ?? {});
      // They ask nothing that could be broken.
      if (/^list(LoginProviders|Consents)$/.test(operationId) && Number(status) >= 500) continue;
      for (const code of Number(status) < 400 ? [''] : examples) {
        t.ok(seen.has(`${operationId} ${status} ${code}`.trim()), `${operationId} ${status} ${code}`);
      }
    }
  }
});
