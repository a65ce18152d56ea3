import t from 'tap';
import { securityEvents } from '../../src/domains/auth/index.ts';
import { codeIn, createTestApp, createUser, logIn, password, resetLinkIn, suspend } from '../support/app.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import { accountsOf, newPassword, otherThan } from './accounts.ts';
import { authenticatorOf, secondFactorOf } from './authenticator.ts';
import { developmentLogin } from './development-login.ts';
import { latestMail, latestUndoToken } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();
const { call, mails } = app;
const { beginRegistration, beginLogin } = passkeysOf(app);

/** The log of a request, by its request id. */
function linesOf(requestId: unknown): Record<string, unknown>[] {
  return app.logs.filter((line) => line.includes(`"${requestId}"`)).map((line) => JSON.parse(line));
}

/** The security events in the log of a request, by its request id. */
const eventsOf = (requestId: unknown) => linesOf(requestId).filter((line) => 'event' in line);

t.test('every security event is a line in the log, with user, session, address and request', async (t) => {
  const seen = new Set<unknown>();
  async function causes(
    event: string,
    who: Record<string, unknown>,
    ...[method, path, options]: Parameters<typeof call>
  ) {
    const response = await call(method, path, options);
    const events = eventsOf(response.headers['x-request-id']);
    t.match(events, [{ level: 30, event, address: '127.0.0.1', ...who }], `${event}: ${response.text}`);
    t.equal(events.length, 1);
    seen.add(event);
    return response;
  }
  const uuid = /^[\da-f-]{36}$/;
  const account = { username: 'audited_shop', email: 'audited@example.com', name: '김두레', password };
  const signUp = { body: account, headers: { 'idempotency-key': 'once' } };
  const created = await causes('signup', { userId: Number }, 'POST', '/auth/signup/', signUp);
  const userId = created.body.data.id;
  const again = await call('POST', '/auth/signup/', signUp);
  t.equal(again.body.data.id, userId);
  t.strictSame(eventsOf(again.headers['x-request-id']), [], 'a replay is not a sign-up');

  const code = codeIn(await mails.next(account.email));
  const confirm = '/auth/email-verify/confirm/';
  const wrongCode = { body: { email: account.email, code: otherThan(code) } };
  await causes('email_code_failed', { userId }, 'POST', confirm, wrongCode);
  const credentials = { username: account.username, password };
  const first = await logIn({ call }, credentials);
  const rightCode = { token: first.token, body: { email: account.email, code } };
  await causes('email_verified', { userId }, 'POST', confirm, rightCode);
  const inSession = { userId, sessionId: uuid };
  const login = await causes('login', inSession, 'POST', '/auth/login/', { body: credentials });
  const { refresh } = login.body.data;
  const replaced = { body: { refresh } };
  t.equal((await call('POST', '/auth/token/refresh/', replaced)).status, 200);
  const afterGrace = "ARRAY(SELECT t - interval '11 s' FROM unnest(rotated_at) t)";
  await app.pool.query(`UPDATE sessions SET rotated_at = ${afterGrace} WHERE user_id = $1`, [userId]);
  await causes('refresh_reused', inSession, 'POST', '/auth/token/refresh/', replaced);

  const one = await logIn({ call }, credentials);
  await logIn({ call }, credentials);
  await causes('session_ended', { userId }, 'DELETE', '/auth/sessions/', { token: one.token });
  const other = await logIn({ call }, credentials);
  const sessions = await call('GET', '/auth/sessions/', { token: one.token });
  const { id } = sessions.body.data.items.find((session: { is_current: boolean }) => !session.is_current);
  const end = `/auth/sessions/${id}/`;
  await causes('session_ended', { userId, sessionId: id }, 'DELETE', end, { token: one.token });
  t.equal((await call('GET', '/auth/me/', { token: other.token })).status, 401);
  await causes('logout', inSession, 'POST', '/auth/logout/', { token: one.token });
  const body = { refresh: (await logIn({ call }, credentials)).refresh };
  await causes('logout', inSession, 'POST', '/auth/logout/', { body });

  const recovery = { body: { email: account.email } };
  await causes('password_reset_requested', { userId }, 'POST', '/auth/reset-password-request/', recovery);
  const { uid, token } = resetLinkIn(await mails.next(account.email, 1));
  await causes('user_id_requested', { userId }, 'POST', '/auth/find-id/', recovery);
  const reset = { body: { uid, token, new_password: 'bibimbap-for-two' } };
  await causes('password_reset', { userId }, 'POST', '/auth/reset-password-confirm/', reset);
  const renewed = await logIn({ call }, { username: account.username, password: 'bibimbap-for-two' });
  const passwords = { current_password: 'bibimbap-for-two', new_password: 'japchae-for-three' };
  const change = { token: renewed.token, body: passwords };
  await causes('password_changed', inSession, 'POST', '/auth/change-password/', change);
  const newEmail = 'audited-two@example.com';
  await call('POST', '/auth/email-verify/send/', { body: { email: newEmail } });
  const newCode = codeIn(await mails.next(newEmail));
  const move = { password: 'japchae-for-three', new_email: newEmail, code: newCode };
  const moving = { token: renewed.token, body: move };
  await causes('email_changed', inSession, 'POST', '/auth/change-email/', moving);
  const undo = { body: { token: await latestUndoToken(app, account.email) } };
  await causes('email_change_undone', { userId }, 'POST', '/auth/change-email/undo/', undo);
  await accountsOf(app).confirmReset(resetLinkIn(await latestMail(app, account.email)));
  const last = await logIn({ call }, { username: account.username, password: newPassword });
  const leaving = { token: last.token, body: { password: newPassword } };
  await causes('account_deleted', inSession, 'DELETE', '/auth/me/', leaving);

  const user = await createUser(app);
  const own = { userId: user.id, sessionId: uuid };
  const { begin, firstFactor } = secondFactorOf(app);
  const { code: nextCode, wrong: wrongTotp } = authenticatorOf((await begin(user.token)).body.data.secret);
  const using = (body?: object) => ({ token: user.token, body });
  const confirmation = using({ code: nextCode() });
  await causes('second_factor_added', own, 'POST', '/auth/second-factor/totp/confirm/', confirmation);
  const renewal = '/auth/second-factor/recovery-codes/';
  const recoveryCodes = await causes('recovery_codes_replaced', own, 'POST', renewal, using());
  await causes('second_factor_failed', own, 'POST', '/auth/confirm/', using({ code: wrongTotp() }));
  await causes('confirmed', own, 'POST', '/auth/confirm/', using({ code: nextCode(1) }));
  const withPassword = { body: { username: user.username, password } };
  await causes('second_factor_required', { userId: user.id }, 'POST', '/auth/login/', withPassword);
  const [recoveryCode] = recoveryCodes.body.data.recovery_codes;
  const second = { second_factor_token: await firstFactor(user), code: recoveryCode };
  await causes('login', own, 'POST', '/auth/login/second-factor/', { body: second });
  await causes('second_factor_removed', own, 'DELETE', '/auth/second-factor/totp/', using());

  await causes('data_downloaded', own, 'GET', '/auth/me/data/', using());

  const suspended = await createUser(app);
  await suspend(app, suspended);
  const right = { body: { username: suspended.username, password } };
  await causes('login_suspended', { userId: suspended.id }, 'POST', '/auth/login/', right);
  const wrong = { body: { username: suspended.username, password: 'a-wrong-guess-1' } };
  for (let attempt = 0; attempt < 10; attempt++)
    await causes('login_failed', { userId: suspended.id }, 'POST', '/auth/login/', wrong);
  await causes('login_delayed', { userId: suspended.id }, 'POST', '/auth/login/', wrong);

  const owner = await createUser(app);
  const authenticator = createAuthenticator(origin);
  const passkey = { token: owner.token, body: await beginRegistration(owner.token, authenticator) };
  const ofOwner = { userId: owner.id, sessionId: uuid };
  const added = await causes('passkey_added', ofOwner, 'POST', '/auth/passkeys/register/finish/', passkey);
  for (const [counter, event] of [
    [9, 'login'],
    [8, 'passkey_refused'],
  ] as const) {
    const body = await beginLogin(authenticator, { counter });
    await causes(event, { userId: owner.id }, 'POST', '/auth/passkeys/login/finish/', { body });
  }
  const path = `/auth/passkeys/${added.body.data.id}/`;
  await causes('passkey_removed', ofOwner, 'DELETE', path, { token: owner.token });

  const atProvider = { subject: 'audited' };
  const linking = await developmentLogin(app, atProvider, { purpose: 'link', token: owner.token });
  const finish = { token: owner.token, body: linking.body };
  const finishPath = '/auth/providers/development/finish/';
  const linked = await causes('identity_added', ofOwner, 'POST', finishPath, finish);
  const identity = `/auth/identities/${linked.body.data.id}/`;
  await causes('identity_removed', ofOwner, 'DELETE', identity, { token: owner.token });
  t.strictSame([...seen].sort(), [...securityEvents].sort(), 'all there are');

  const forged = await call('GET', '/auth/me/', { token: `${one.token}x` });
  t.match(
    linesOf(forged.headers['x-request-id']).find(({ code }) => code === 'token_not_valid'),
    { reason: 'malformed', msg: 'request rejected' },
    'the log distinguishes a forged token from an expired one',
  );
});
