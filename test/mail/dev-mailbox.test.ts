import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import {
  createDevMailbox,
  type DevMailbox,
  devMailboxRoutes,
} from '../../src/development/mailbox/mailbox.ts';
import { type Language, renderMail } from '../../src/infrastructure/mail/templates.ts';
import { createTestApp } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { mails } from './samples.ts';

let keys = 0;

/** A mail, with a key of its own by default. */
function outgoing(
  changes: {
    to?: string;
    language?: Language;
    subject?: string;
    text?: string;
    html?: string;
    idempotencyKey?: string;
  } = {},
) {
  keys += 1;
  return {
    to: 'minji@example.com',
    language: 'ko' as const,
    subject: `mail ${keys}`,
    text: 'text',
    html: '<p>html</p>',
    idempotencyKey: `key-${keys}`,
    ...changes,
  };
}

async function build(t: Test, mailbox: DevMailbox = createDevMailbox()) {
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await app.register(devMailboxRoutes, { mailbox });
  t.teardown(() => app.close());
  const get = (headers: Record<string, string> = {}, url = '/dev/mailbox/') =>
    app.inject({ method: 'GET', url, headers: { accept: 'text/html', ...headers } });
  return { mailbox, get };
}

t.test('keeps the mails, newest first', async (t) => {
  const mailbox = createDevMailbox();
  const before = Date.now();
  await mailbox.send(outgoing({ subject: 'first', idempotencyKey: 'a' }));
  await mailbox.send(outgoing({ subject: 'second', idempotencyKey: 'b' }));
  const [newest, oldest] = mailbox.list();
  t.match(newest, { id: 2, subject: 'second', to: 'minji@example.com', text: 'text', html: '<p>html</p>' });
  t.match(oldest, { id: 1, subject: 'first' });
  t.match(newest?.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.ok(Date.parse(newest?.created_at ?? '') >= before);
  t.same(Object.keys(newest ?? {}).sort(), ['created_at', 'html', 'id', 'language', 'subject', 'text', 'to']);
});

t.test('keeps a mail once, also when it is retried', async (t) => {
  const mailbox = createDevMailbox();
  const mail = outgoing();
  await mailbox.send(mail);
  await mailbox.send(outgoing());
  await mailbox.send(mail);
  t.same(
    mailbox.list().map(({ id }) => id),
    [2, 1],
  );
});

t.test('keeps the newest 200', async (t) => {
  const mailbox = createDevMailbox();
  for (let count = 0; count < 203; count += 1) await mailbox.send(outgoing());
  const ids = mailbox.list().map(({ id }) => id);
  t.equal(ids.length, 200);
  t.equal(ids[0], 203);
  t.equal(ids.at(-1), 4);
});

t.test('a caller cannot change the list', async (t) => {
  const mailbox = createDevMailbox();
  await mailbox.send(outgoing());
  mailbox.list().pop();
  t.equal(mailbox.list().length, 1);
});

t.test('answers JSON when the client accepts it', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing({ subject: 'first' }));
  await mailbox.send(outgoing({ subject: 'second' }));
  for (const accept of [
    'application/json',
    'application/json, text/plain, */*',
    'text/html;q=0.5, application/json',
  ]) {
    const answer = await get({ accept });
    t.equal(answer.statusCode, 200);
    t.match(answer.headers['content-type'], /^application\/json/);
    t.equal(answer.headers['cache-control'], 'no-store');
    t.same(answer.json(), { items: mailbox.list() }, accept);
  }
});

t.test('another name of the host than localhost is refused, because of DNS rebinding', async (t) => {
  const mailbox = createDevMailbox();
  const app = await createTestApp(
    { WORKER_ENABLED: 'false' },
    { routes: async (scope) => void scope.register(devMailboxRoutes, { mailbox }) },
  );
  t.teardown(app.close);
  const get = (host: string, accept: string) =>
    app.call('GET', '/dev/mailbox/', { headers: { host, accept, 'accept-language': 'en' } });
  const own = [
    'localhost',
    'localhost:3000',
    'LocalHost:80',
    '127.0.0.1',
    '192.168.0.5:3000',
    '[::1]:3000',
    '[::1]',
  ];
  const names = [
    'evil.example',
    'evil.example:3000',
    'localhost.evil.example',
    'localhost@evil.example',
    'evil.localhost',
  ];
  const almost = [
    '127.0.0.1.evil.example',
    '127.1',
    '0x7f000001',
    'localhost:x',
    '127.0.0.1:x',
    '[localhost]',
  ];
  for (const accept of ['text/html', 'application/json']) {
    for (const host of own) t.equal((await get(host, accept)).status, 200, host);
    for (const host of [...names, ...almost]) {
      const answer = await get(host, accept);
      refused(t, answer, 421, 'misdirected_request');
      t.equal(answer.headers['cache-control'], 'no-store', host);
    }
  }
});

t.test('answers a page to browsers, with and without the slash', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing({ subject: 'first' }));
  await mailbox.send(outgoing({ subject: 'second' }));
  for (const accept of [
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    '*/*',
    'image/png',
  ]) {
    const answer = await get({ accept }, '/dev/mailbox');
    t.equal(answer.statusCode, 200);
    t.match(answer.headers['content-type'], /^text\/html; charset=utf-8/);
    t.equal(answer.headers['cache-control'], 'no-store');
    t.ok(answer.body.indexOf('>second</h2>') < answer.body.indexOf('>first</h2>'), 'newest first');
  }
});

t.test('is not part of the published specification', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  const hidden: unknown[] = [];
  app.addHook('onRoute', (route) => {
    hidden.push(route.schema?.hide);
  });
  await app.register(devMailboxRoutes, { mailbox: createDevMailbox() });
  t.ok(hidden.length > 0 && hidden.every((hide) => hide === true));
});

t.test('allows the script of the page and no other', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing());
  const { body, headers } = await get();
  const policy = String(headers['content-security-policy']);
  const directives = new Map(
    policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  );
  t.equal(directives.get('default-src'), "'none'");
  t.equal(directives.get('frame-ancestors'), "'none'");
  t.equal(directives.get('base-uri'), "'none'");
  t.equal(directives.get('form-action'), "'none'");
  t.equal(directives.get('connect-src'), "'self'");

  const [script, ...others] = [...body.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)];
  const hash = createHash('sha256')
    .update(script?.[1] ?? '')
    .digest('base64');
  t.equal(directives.get('script-src'), `'sha256-${hash}'`);
  t.same(others, []);
  t.notMatch(body, /<[^>]+\son[a-z]+=/i);
});

t.test('shows every part of a mail as text', async (t) => {
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
  const { body } = await get();
  t.equal(body.match(/<script/g)?.length, 1, 'only the script of the page');
  t.equal(body.match(/<\/iframe>/g)?.length, 1);
  t.notMatch(body, /<img/);
  t.notMatch(body, /href="javascript:/i);
  t.ok(body.includes('srcdoc="&lt;p&gt;&quot;&gt;&lt;script&gt;'), 'the HTML is one attribute');
});

t.test('shows the HTML in a frame without scripts, forms or an origin', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing());
  const sandbox = /<details class="html">.*<iframe [^>]*sandbox="([^"]*)"[^>]*srcdoc="&lt;p&gt;html/.exec(
    (await get()).body,
  )?.[1];
  t.type(sandbox, 'string');
  t.notMatch(sandbox, /allow-(scripts|same-origin|forms|top-navigation)/);
});

t.test('highlights the codes and links of a mail, and nothing that a user wrote', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing(renderMail(mails.verification_code, 'ko')));
  const url = 'https://dure.example/reset-password?uid=7&token=abc';
  await mailbox.send(outgoing(renderMail({ kind: 'reset_link', name: '김민지', url, minutes: 60 }, 'en')));
  const request = {
    kind: 'partner_request_received',
    name: '김민지',
    storeName: '카페',
    postTitle: '글',
    message: '654321\nhttps://evil.example/',
    url: 'https://dure.example/requests',
  } as const;
  await mailbox.send(outgoing(renderMail(request, 'ko')));
  const { body } = await get();
  const highlighted = [
    ...body.matchAll(/<div class="highlight">(.*?)<button type="button">(.*?)<\/button>/g),
  ];
  t.same(
    highlighted.map(([, html, label]) => [html?.replace(/ target=.*/, ''), label]),
    [
      ['<a href="https://dure.example/requests"', '링크 복사'],
      ['<a href="https://dure.example/reset-password?uid=7&amp;token=abc"', '링크 복사'],
      ['<span class="code">048213</span>', '번호 복사'],
      ['<a href="https://dure.example/verify-email?token=aB_-9.cD"', '링크 복사'],
    ],
  );
});

t.test('says when there is no mail', async (t) => {
  const { mailbox, get } = await build(t);
  t.match((await get()).body, /RESEND_API_KEY[\s\S]*아직 메일이 없습니다/);
  await mailbox.send(outgoing());
  t.notMatch((await get()).body, /아직 메일이 없습니다<\/h2>/);
});

t.test('is in the language of the reader', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing());
  const korean = await get();
  t.match(korean.body, /<html lang="ko">[\s\S]*개발용 메일함/);
  t.match(korean.body, /\d{4}년 \d+월 \d+일 \d+:\d\d:\d\d (UTC|[A-Z]{3,4}|GMT[+-]\d+)<\/time>/);
  const english = await get({ 'accept-language': 'en-US,en;q=0.9' });
  t.match(english.body, /<html lang="en">[\s\S]*Dev mailbox/);
  t.notMatch(english.body, /[가-힣]/);
});

t.test('an open page can tell that there is a new mail', async (t) => {
  const { mailbox, get } = await build(t);
  t.match((await get()).body, '<body data-newest="" ');
  await mailbox.send(outgoing());
  const { items } = (await get({ accept: 'application/json' })).json();
  t.match((await get()).body, `<body data-newest="${items[0].created_at}" `);
});

t.test('a mail is marked with its own language', async (t) => {
  const { mailbox, get } = await build(t);
  await mailbox.send(outgoing(renderMail(mails.verification_code, 'ko')));
  await mailbox.send(outgoing(renderMail(mails.verification_code, 'en')));
  const { body } = await get({ 'accept-language': 'en' });
  for (const element of ['h2', 'pre', 'iframe']) {
    const languages = [...body.matchAll(new RegExp(`<${element} lang="(..)"`, 'g'))];
    t.same(
      languages.map(([, language]) => language),
      ['en', 'ko'],
      element,
    );
  }
  const { items } = (await get({ accept: 'application/json' })).json();
  t.same(
    items.map(({ language }: { language: string }) => language),
    ['en', 'ko'],
  );
});

t.test('the newest mail is open, older ones are folded', async (t) => {
  const { mailbox, get } = await build(t);
  for (let count = 0; count < 3; count += 1) await mailbox.send(outgoing());
  const { body } = await get();
  t.same(body.match(/<article><details( open)?>/g), [
    '<article><details open>',
    '<article><details>',
    '<article><details>',
  ]);
});

t.test('?to= leaves the mails to one address, in any case', async (t) => {
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
