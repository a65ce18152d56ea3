import { createHash } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { createDevMailbox, devMailboxRoutes } from '../../src/development/mailbox.ts';
import { requestContextPlugin } from '../../src/http/request-context.ts';
import { escapeHtml } from '../../src/infrastructure/mail/rendering.ts';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { createTestApp } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { mails, render, requestUrl, resetUrl } from './samples.ts';

let keys = 0;

/** An email, with a key of its own by default. */
function outgoing(changes: Partial<OutgoingMail> = {}): OutgoingMail {
  keys += 1;
  return {
    to: 'minji@example.com',
    language: 'ko',
    subject: `mail ${keys}`,
    text: 'text',
    html: '<p>html</p>',
    idempotencyKey: `key-${keys}`,
    ...changes,
  };
}

async function build(t: Test) {
  const mailbox = createDevMailbox();
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await app.register(requestContextPlugin);
  await app.register(devMailboxRoutes, { mailbox, from: 'Dure <no-reply@dure.example>' });
  t.teardown(() => app.close());
  const get = (headers: Record<string, string> = {}, url = '/dev/mailbox/') =>
    app.inject({ method: 'GET', url, headers: { accept: 'text/html', ...headers } });
  return { mailbox, get };
}

t.test('keeps the newest 200 emails, newest first, each once, also when it is retried', async (t) => {
  const mailbox = createDevMailbox();
  const before = Date.now();
  const first = outgoing({ subject: 'first' });
  for (const mail of [first, outgoing({ subject: 'second' }), first]) await mailbox.send(mail);
  const [newest, oldest, ...others] = mailbox.list();
  t.match(newest, { id: 2, subject: 'second', to: 'minji@example.com', text: 'text', html: '<p>html</p>' });
  t.match(oldest, { id: 1, subject: 'first' });
  t.same(others, []);
  t.match(newest?.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.ok(Date.parse(newest?.created_at ?? '') >= before);
  while (mailbox.list()[0]?.id !== 203) await mailbox.send(outgoing());
  const ids = mailbox.list().map(({ id }) => id);
  t.match([ids.length, ids[0], ids.at(-1)], [200, 203, 4]);
});

t.test('responds with JSON to clients that accept it, and with a page to browsers', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing({ subject: 'first' }));
  await mailbox.send(outgoing({ subject: 'second' }));
  for (const [accept, type] of [
    ['application/json', 'application/json; charset=utf-8'],
    ['application/json, text/plain, */*', 'application/json; charset=utf-8'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['*/*', 'text/html; charset=utf-8'],
  ] as const) {
    for (const path of ['/dev/mailbox', '/dev/mailbox/']) {
      const response = await get({ accept }, path);
      t.equal(response.statusCode, 200);
      t.equal(response.headers['cache-control'], 'no-store');
      t.equal(response.headers['content-type'], type);
      const items = mailbox.list().map(({ language: _, ...mail }) => mail);
      if (type.includes('json')) t.strictSame(response.json(), { items }, accept);
      else t.match(response.body, />second<\/h2>[\s\S]*>first<\/h2>/, 'newest first');
    }
  }
});

t.test('another name of the host than localhost is rejected, because of DNS rebinding', async (t) => {
  const mailbox = createDevMailbox();
  const routes = async (scope: FastifyInstance) =>
    void scope.register(devMailboxRoutes, { mailbox, from: 'Dure' });
  const app = await (await createTestApp()).startInstance({}, { routes });
  const get = (host: string, accept: string) =>
    app.call('GET', '/dev/mailbox/', { headers: { host, accept, 'accept-language': 'en' } });
  const own = 'localhost localhost:3000 LocalHost:80 127.0.0.1 192.168.0.5:3000 [::1]:3000 [::1]'.split(' ');
  const names = 'evil.example evil.example:3000 localhost.evil.example localhost@evil.example evil.localhost';
  const almost = '127.0.0.1.evil.example 127.1 0x7f000001 localhost:x 127.0.0.1:x [localhost]';
  for (const accept of ['text/html', 'application/json']) {
    for (const host of own) t.equal((await get(host, accept)).status, 200, host);
    for (const host of `${names} ${almost}`.split(' ')) {
      const response = await get(host, accept);
      rejected(t, response, 421, 'misdirected_request');
      t.equal(response.headers['cache-control'], 'no-store', host);
    }
  }
});

t.test('shows every part of an email as text, its HTML in a frame without scripts', async (t) => {
  const { mailbox, get } = await build(t);
  const nasty = `"><script>alert('x')</script><img src=x onerror=alert(1)>`;
  await mailbox.send(
    outgoing({
      to: nasty,
      subject: nasty,
      text: `${nasty}\nhttps://a.example/?"><script>\njavascript:alert(1)\n123456<script>`,
      html: `<p>${nasty}</p></iframe>`,
    }),
  );
  const { body, headers } = await get();
  const policy = String(headers['content-security-policy']);
  for (const directive of ['default-src', 'frame-ancestors', 'base-uri', 'form-action'])
    t.match(policy, `${directive} 'none'`);
  t.match(policy, "connect-src 'self'");
  t.equal(body.match(/<script/g)?.length, 1, 'only the script of the page');
  const script = /<script[^>]*>([\s\S]*?)<\/script>/.exec(body)?.[1] ?? '';
  const hash = createHash('sha256').update(script).digest('base64');
  t.ok(policy.split('; ').includes(`script-src 'sha256-${hash}'`));
  t.equal(body.match(/<\/iframe>/g)?.length, 1);
  t.notMatch(body, /<img/);
  t.notMatch(body, /href="javascript:/i);
  t.ok(body.includes('<strong>Dure &lt;no-reply@dure.example&gt;</strong>'), 'its sender');
  const frame = /<iframe [^>]*sandbox="([^"]*)"[^>]*srcdoc="&lt;p&gt;&quot;&gt;&lt;script&gt;/.exec(body);
  t.notMatch(frame?.[1] ?? 'none', /none|allow-(scripts|same-origin|forms|top-navigation)/);
});

t.test('highlights the codes and links of an email, and nothing that a user wrote', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing(render(mails.verification_code, 'ko')));
  await mailbox.send(outgoing(render(mails.reset_link, 'en')));
  const message = '654321\nhttps://evil.example/';
  await mailbox.send(outgoing(render({ ...mails.partner_request_received, message }, 'ko')));
  const { body } = await get();
  const highlighted = [...body.matchAll(/<p class="highlight[^>]*>(.*?)<\/p>/g)];
  t.same(
    highlighted.map(([, html]) => html?.replace(/ target=.*/, '')),
    [
      `<a href="${escapeHtml(requestUrl)}"`,
      `<a href="${escapeHtml(resetUrl)}"`,
      '048213',
      '<a href="https://dure.example/verify-email?token=aB_-9.cD"',
    ],
  );
});

t.test('is in the language of the reader, also while there is no email', async (t) => {
  const { mailbox, get } = await build(t);
  t.match((await get()).body, /<main data-newest="">[\s\S]*RESEND_API_KEY[\s\S]*아직 메일이 없습니다/);
  await mailbox.send(outgoing());
  const korean = (await get()).body;
  t.match(korean, /<html lang="ko">[\s\S]*개발용 메일함/);
  t.match(korean, /\d{4}년 \d+월 \d+일 \d+시 \d+분 \d+초 (UTC|[A-Z]{3,4}|GMT[+-]\d+)<\/time>/);
  const english = (await get({ 'accept-language': 'en-US,en;q=0.9' })).body;
  t.match(english, /<html lang="en">[\s\S]*Dev mailbox/);
  t.notMatch(english, /[가-힣]/);
  t.match(english, /<h2 lang="ko">[\s\S]*<pre lang="ko">[\s\S]*<iframe lang="ko"/, 'an email is in its own');
  const created = mailbox.list()[0]?.created_at;
  t.match(korean, `<main data-newest="${created}">`, 'an open page can tell that there is a new email');
});

t.test('?to= leaves the emails to one address, in any case', async (t) => {
  const { mailbox, get } = await build(t);
  for (const to of ['a@example.com', 'Owner+1@Example.com', 'b@example.com', 'xa@example.com']) {
    await mailbox.send(outgoing({ to }));
  }
  const find = async (query: string) => {
    const url = `/dev/mailbox/?to=${query}`;
    const { items } = (await get({ accept: 'application/json' }, url)).json();
    const addresses = items.map(({ to }: { to: string }) => to);
    const page = (await get({}, url)).body;
    const [first] = addresses;
    t.equal(page.match(/<article>/g)?.length ?? 0, addresses.length, 'the page has the same mails');
    t.match(page, `data-newest="${items[0]?.created_at ?? ''}"`);
    if (first) t.match(page, `<strong>${first}</strong> ·`);
    return addresses;
  };
  t.same(await find('A@EXAMPLE.COM'), ['a@example.com']);
  t.same(await find('owner%2B1@example.com'), ['Owner+1@Example.com']);
  t.same(await find('owner+1@example.com'), ['Owner+1@Example.com'], 'a plus sign that is not encoded');
  t.same(await find('c@example.com'), []);
  t.equal((await find('')).length, 4);
  t.match((await get({}, '/dev/mailbox/?to=%22%3E%3Cscript%3E')).body, '&quot;&gt;&lt;script&gt;');
});
