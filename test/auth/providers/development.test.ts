import t from 'tap';
import { createTestApp } from '../../support/app.ts';
import { rejected } from '../../support/assertions.ts';
import { developmentLogin } from '../development-login.ts';

const app = await createTestApp();
const { call } = app;
const own = { host: 'localhost:3000' };

t.test('outside production a page of the service logs in any user', async (t) => {
  const list = await call('GET', '/auth/providers/');
  t.strictSame(list.body.data, { items: [{ id: 'development', name: '개발용 로그인' }] });
  const user = { subject: 'kim', email: 'kim@example.com', name: '김두레', is_email_proved: 'true' };
  const { finish } = await developmentLogin(app, user);
  const { data } = (await finish()).body;
  t.match(data.suggested, { name: '김두레', email: 'kim@example.com', is_email_verified: true });
  const body = { sign_up_token: data.sign_up_token, username: 'kim.dev', name: '김', email: user.email };
  const signUp = await call('POST', '/auth/providers/sign-up/', { body });
  t.match(signUp, { status: 201, body: { data: { user: { is_verified: true } } } });
  const again = await developmentLogin(app, { subject: 'kim' });
  t.match((await again.finish()).body.data.user, { username: 'kim.dev' });
});

t.test('its page is a form without a script, in both languages, that one can cancel', async (t) => {
  const start = await call('POST', '/auth/providers/development/start/', { body: { purpose: 'login' } });
  const { pathname, search } = new URL(start.body.data.authorization_url);
  const page = await call('GET', `${pathname}${search}`, { headers: { ...own, 'accept-language': 'en' } });
  t.match(page.text, '<html lang="en">');
  t.match(page.text, /<label for="subject">User id<\/label>/);
  t.notMatch(page.text, '<script');
  t.match(page.headers['content-security-policy'], "form-action 'self' https://app.example.com");
  t.match((await call('GET', `${pathname}${search}`, { headers: own })).text, '사용자 번호');
  const quoted = await call('GET', `${pathname}?state=%22%3E%3Cb%3E&nonce=x`, { headers: own });
  t.notMatch(quoted.text, '<b>');
  const headers = { ...own, 'content-type': 'application/x-www-form-urlencoded' };
  const cancelled = await call('POST', '/dev/login/', { body: 'action=cancel&state=s&subject=x', headers });
  t.match(cancelled.headers['location'], /\/callback\/\?state=s&error=access_denied$/);
});

t.test('the callback takes forms, whatever is in them, and no JSON', async (t) => {
  const path = '/auth/providers/development/callback/';
  for (const body of ['{"a":', '{"code":"c","state":"s"}']) {
    const headers = { 'content-type': 'application/json', 'accept-language': 'en' };
    const response = await call('POST', path, { body, headers });
    rejected(t, response, 415, 'unsupported_media_type');
    t.equal(response.body.message, 'The body must be application/x-www-form-urlencoded.');
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const long = `code=c&state=${'s'.repeat(300)}&user=${'x'.repeat(5000)}`;
  for (const sent of ['', 'code=%00&state=s&user=x', 'code=c&code=%00&state=s', 'state=s&state=%F0', long])
    for (const response of [
      await call('POST', path, { body: sent, headers }),
      await call('GET', `${path}?${sent.slice(0, 1_000)}`),
    ]) {
      t.equal(response.status, 303, sent);
      t.match(response.headers['location'], /[?&]error=invalid_request$/);
    }
  const more = 'code=c&state=s&scope=openid&x=1&x=2';
  for (const response of [
    await call('POST', path, { body: more, headers }),
    await call('GET', `${path}?${more}`),
  ])
    t.match(response.headers['location'], /\?provider=development&code=c&state=s$/);
});

t.test('a name that leads to this machine from elsewhere is refused (DNS rebinding)', async (t) => {
  for (const method of ['GET', 'POST']) {
    const headers = { host: 'evil.example.com' };
    const response = await call(method, '/dev/login/?state=s&nonce=n', { headers });
    rejected(t, response, 421, 'misdirected_request');
  }
});

t.test('its code is bound to the flow, and to a minute', async (t) => {
  const first = await developmentLogin(app, { subject: 'a' });
  const second = await developmentLogin(app, { subject: 'b' });
  const finish = (body: object) => call('POST', '/auth/providers/development/finish/', { body });
  rejected(t, await finish({ ...second.body, code: first.body.code }), 400, 'provider_refused');
  rejected(t, await finish({ ...first.body, code: `${first.body.code}x` }), 400, 'provider_refused');
  const late = await developmentLogin(app, { subject: 'c' });
  const now = Date.now;
  t.intercept(Date, 'now', { value: () => now() + 61_000 });
  rejected(t, await late.finish(), 400, 'provider_refused');
});
