import t from 'tap';
import { securityEvents } from '../../src/domains/auth/index.ts';
import { codeIn, createTestApp, createUser, logIn, password, resetLinkIn, suspend } from '../support/app.ts';
import { createAuthenticator } from '../support/webauthn.ts';
import { accountsOf, newPassword, otherThan } from './accounts.ts';
import { authenticatorOf, secondFactorOf } from './authenticator.ts';
import { developmentLogin } from './development-login.ts';
import { latestResetLink, latestUndoToken } from './mailbox.ts';
import { origin, passkeysOf } from './passkeys.ts';

const app = await createTestApp();
const { call, mails } = app;
const { newProof, confirmReset } = accountsOf(app);
const { beginRegistration, beginLogin } = passkeysOf(app);

/** The log of a request, by its request id. */
function linesOf(requestId: unknown): Record<string, unknown>[] {
  return app.logs.filter((line) => line.includes(`"${requestId}"`)).map((line) => JSON.parse(line));
}

/** The security events in the log of a request, by its request id. */
const eventsOf = (requestId: unknown) => linesOf(requestId).filter((line) => 'event' in line);

t.test('every security event is a line in the log, with user, session, address and request', async (t) => {
  const seen = new Set<unknown>();
  /** @param target such as `POST login` @param by has the token of the caller, or headers */
  async function causes(event: string, who: object, target: string, body?: unknown, by?: object) {
    const [method = '', path] = target.split(' ');
    const response = await call(method, `/auth/${path}/`, { body, ...by });
    const events = eventsOf(response.headers['x-request-id']);
    t.match(events, [{ level: 30, event, address: '127.0.0.1', ...who }], `${event}: ${response.text}`);
    t.equal(events.length, 1);
    seen.add(event);
    return response;
  }
  const uuid = /^[\da-f-]{36}$/;
  const account = { username: 'audited_shop', email: 'audited@example.com', name: '김두레', password };
  const { username, email } = account;
  const once = { headers: { 'idempotency-key': 'once' } };
  const created = await causes('signup', { userId: Number }, 'POST signup', account, once);
  const userId = created.body.data.id;
  const ofUser = { userId };
  const again = await call('POST', '/auth/signup/', { body: account, ...once });
  t.equal(again.body.data.id, userId);
  t.strictSame(eventsOf(again.headers['x-request-id']), [], 'a replay is not a sign-up');

  const code = codeIn(await mails.next(email));
  await causes('email_code_failed', ofUser, 'POST email-verify/confirm', { email, code: otherThan(code) });
  const first = await logIn(app, account);
  await causes('email_verified', ofUser, 'POST email-verify/confirm', { email, code }, first);
  const inSession = { userId, sessionId: uuid };
  const login = await causes('login', inSession, 'POST login', { username, password });
  const { refresh } = login.body.data;
  t.equal((await call('POST', '/auth/token/refresh/', { body: { refresh } })).status, 200);
  const afterGrace = "ARRAY(SELECT t - interval '11 s' FROM unnest(rotated_at) t)";
  await app.pool.query(`UPDATE sessions SET rotated_at = ${afterGrace} WHERE user_id = $1`, [userId]);
  await causes('refresh_reused', inSession, 'POST token/refresh', { refresh });

  const one = await logIn(app, account);
  await logIn(app, account);
  await causes('session_ended', ofUser, 'DELETE sessions', undefined, one);
  await logIn(app, account);
  const sessions = await call('GET', '/auth/sessions/', { token: one.token });
  const { id } = sessions.body.data.items.find((session: { is_current: boolean }) => !session.is_current);
  await causes('session_ended', { userId, sessionId: id }, `DELETE sessions/${id}`, undefined, one);
  await causes('logout', inSession, 'POST logout', undefined, one);
  await causes('logout', inSession, 'POST logout', { refresh: (await logIn(app, account)).refresh });

  await causes('password_reset_requested', ofUser, 'POST reset-password-request', { email });
  const { uid, token } = resetLinkIn(await mails.next(email, 1));
  await causes('user_id_requested', ofUser, 'POST find-id', { email });
  const [second, third] = ['bibimbap-for-two', 'japchae-for-three'];
  await causes('password_reset', ofUser, 'POST reset-password-confirm', { uid, token, new_password: second });
  const renewed = await logIn(app, { username, password: second });
  const passwords = { current_password: second, new_password: third };
  await causes('password_changed', inSession, 'POST change-password', passwords, renewed);
  const move = { password: third, ...(await newProof()) };
  await causes('email_changed', inSession, 'POST change-email', move, renewed);
  const undo = { token: await latestUndoToken(app, email) };
  await causes('email_change_undone', ofUser, 'POST change-email/undo', undo);
  await confirmReset(await latestResetLink(app, email));
  const last = await logIn(app, { username, password: newPassword });
  await causes('account_deleted', inSession, 'DELETE me', { password: newPassword }, last);

  const user = await createUser(app);
  const own = { userId: user.id, sessionId: uuid };
  const { begin, firstFactor } = secondFactorOf(app);
  const totp = authenticatorOf((await begin(user.token)).body.data.secret);
  await causes('second_factor_added', own, 'POST second-factor/totp/confirm', { code: totp.code() }, user);
  const renewal = 'POST second-factor/recovery-codes';
  const { body } = await causes('recovery_codes_replaced', own, renewal, undefined, user);
  await causes('second_factor_failed', own, 'POST confirm', { code: totp.wrong() }, user);
  await causes('confirmed', own, 'POST confirm', { code: totp.code(1) }, user);
  const credentials = { username: user.username, password };
  await causes('second_factor_required', { userId: user.id }, 'POST login', credentials);
  const second_factor_token = await firstFactor(user);
  const recovery = { second_factor_token, code: body.data.recovery_codes[0] };
  await causes('login', own, 'POST login/second-factor', recovery);
  await causes('second_factor_removed', own, 'DELETE second-factor/totp', undefined, user);

  await causes('data_downloaded', own, 'GET me/data', undefined, user);

  const suspended = await createUser(app);
  await suspend(app, suspended);
  const ofSuspended = { userId: suspended.id };
  const right = { username: suspended.username, password };
  await causes('login_suspended', ofSuspended, 'POST login', right);
  const wrong = { ...right, password: 'a-wrong-guess-1' };
  for (let attempt = 0; attempt < 10; attempt++)
    await causes('login_failed', ofSuspended, 'POST login', wrong);
  await causes('login_delayed', ofSuspended, 'POST login', wrong);

  const owner = await createUser(app);
  const ofOwner = { userId: owner.id, sessionId: uuid };
  const authenticator = createAuthenticator(origin);
  const registration = await beginRegistration(owner.token, authenticator);
  const added = await causes('passkey_added', ofOwner, 'POST passkeys/register/finish', registration, owner);
  for (const [event, counter] of Object.entries({ login: 9, passkey_refused: 8 })) {
    const given = await beginLogin(authenticator, { counter });
    await causes(event, { userId: owner.id }, 'POST passkeys/login/finish', given);
  }
  await causes('passkey_removed', ofOwner, `DELETE passkeys/${added.body.data.id}`, undefined, owner);

  const link = await developmentLogin(app, { subject: 'audited' }, { purpose: 'link', token: owner.token });
  const finish = 'POST providers/development/finish';
  const linked = await causes('identity_added', ofOwner, finish, link.body, owner);
  await causes('identity_removed', ofOwner, `DELETE identities/${linked.body.data.id}`, undefined, owner);
  t.strictSame([...seen].sort(), [...securityEvents].sort(), 'all there are');

  const forged = await call('GET', '/auth/me/', { token: `${one.token}x` });
  t.match(
    linesOf(forged.headers['x-request-id']).find(({ code }) => code === 'token_not_valid'),
    { reason: 'malformed', msg: 'request rejected' },
    'the log distinguishes a forged token from an expired one',
  );
});
