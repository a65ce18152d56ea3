import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import {
  createResendTransport,
  MailRejectedError,
  type OutgoingMail,
  RateLimitedError,
} from '../../src/infrastructure/mail/transport.ts';
import { createTestApp, relayed } from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { freePort } from '../support/free-port.ts';
import { openTwoVerifiedShops, sendRequest } from '../support/partner-requests.ts';
import { createProvider, type ProviderBehaviour } from '../support/provider.ts';
import { createPost } from '../support/stores.ts';
import { atMost } from '../support/time.ts';
import { until } from '../support/until.ts';

const mail: OutgoingMail = {
  to: 'minji@example.com',
  language: 'ko',
  subject: '[두레] 이메일 인증번호 안내',
  text: '인증번호\n\n048213\n',
  html: '<p>048213</p>',
  idempotencyKey: 'verification-42',
};

const transportTo = (baseUrl: string, timeoutMs = atMost(5_000)) =>
  createResendTransport({ apiKey: 're_key', from: 'Dure <no-reply@dure.example>', baseUrl, timeoutMs });

function respond(status: number, body: unknown): (response: ServerResponse) => void {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The error that `send` throws for a response of the provider. */
async function failure(t: Test, response: ProviderBehaviour, timeoutMs?: number): Promise<Error> {
  const { url } = await createProvider(t, response);
  const sending = transportTo(url, timeoutMs).send(mail);
  const error: unknown = await sending.catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error('the email was accepted');
  return error;
}

function rejection(statusCode: number, name: string, message = 'Something is wrong') {
  return respond(statusCode, { statusCode, name, message });
}

t.test('sends the email with the key, the idempotency key, all its parts and its headers', async (t) => {
  const { url, attempts } = await createProvider(t);
  const { language, idempotencyKey, ...parts } = mail;
  await transportTo(`${url}/`).send(mail);
  const headers = { 'List-Unsubscribe': '<https://api.example.com/?token=a>' };
  await transportTo(url).send({ ...mail, headers });
  t.match(attempts[0], {
    method: 'POST',
    url: '/emails',
    headers: { authorization: 'Bearer re_key', 'idempotency-key': idempotencyKey },
  });
  const from = 'Dure <no-reply@dure.example>';
  const bodies = attempts.map(({ body }) => JSON.parse(body));
  t.same(bodies, [
    { from, ...parts },
    { from, ...parts, headers },
  ]);
});

t.test('reads nothing from the environment', async (t) => {
  const [elsewhere, { url, attempts }] = [await createProvider(t), await createProvider(t)];
  const other = { RESEND_BASE_URL: elsewhere.url, RESEND_USER_AGENT: 'else', RESEND_API_KEY: 're_else' };
  t.intercept(process, 'env', { value: { ...process.env, ...other } });
  await transportTo(url).send(mail);
  t.equal(attempts[0]?.headers['user-agent'], 'dure');
  t.throws(() => createResendTransport({ apiKey: '', from: 'a@dure.example' }));

  const urls: string[] = [];
  t.intercept(globalThis, 'fetch', {
    value: async (url: string) => {
      urls.push(url);
      return Response.json({ id: 'x' });
    },
  });
  await createResendTransport({ apiKey: 're_key', from: 'a@dure.example' }).send(mail);
  t.same(urls, ['https://api.resend.com/emails']);
  t.equal(elsewhere.attempts.length, 0);
});

const permanent: [number, string, string?][] = [
  [400, 'validation_error'],
  [422, 'validation_error', 'Invalid `to` field. The email address needs to follow a format.'],
  [422, 'missing_required_field'],
  [422, 'invalid_parameter'],
  [400, 'invalid_idempotency_key'],
];
const temporary: [number, string, string?][] = [
  [401, 'missing_api_key'],
  [403, 'invalid_api_key'],
  [403, 'validation_error', 'The dure.example domain is not verified.'],
  [422, 'invalid_from_address'],
  [422, 'validation_error', 'Invalid `from` field.'],
  [404, 'not_found'],
  [409, 'concurrent_idempotent_requests'],
  [400, 'invalid_idempotent_request'],
  [429, 'rate_limit_exceeded'],
  [429, 'validation_error'],
  [451, 'security_error'],
  [500, 'application_error'],
  [503, 'validation_error'],
  [422, 'something_new'],
];
t.test('an error of the email is permanent, of the service or the account temporary', async (t) => {
  for (const one of [...permanent, ...temporary]) {
    const [status, name, message] = one;
    const error = await failure(t, rejection(...one));
    t.equal(error instanceof MailRejectedError, permanent.includes(one), error.message);
    t.match(error.message, `${status} ${name}`);
    if (message?.includes('`to`')) t.match(error.message, /field "to"/, 'the reason names the field');
    if (name === 'invalid_api_key') t.match(error.message, /RESEND_API_KEY/, 'and the setting to check');
    if (name === 'invalid_from_address') t.match(error.message, /MAIL_FROM/);
  }
});

t.test('a 429 says when to try again, in seconds and within ten minutes', async (t) => {
  for (const [retryAfter, seconds] of Object.entries({ 2: 2, 0: 5, soon: 5, 86400: 600 })) {
    const error = await failure(t, (response) => {
      response.setHeader('retry-after', retryAfter);
      rejection(429, 'rate_limit_exceeded')(response);
    });
    t.match(error, { name: 'RateLimitedError', seconds }, retryAfter);
  }
  t.ok((await failure(t, rejection(429, 'daily_quota_exceeded'))) instanceof RateLimitedError);
  const limited = await failure(t, respond(429, { name: 'rate_limit_exceeded' }));
  t.match(limited, { name: 'RateLimitedError', seconds: 5 }, 'without the status in the body');
  const unnamed = await failure(t, (response) => {
    respond(429, { message: 'slow down' })(response.setHeader('retry-after', 7));
  });
  t.match(unnamed, { name: 'RateLimitedError', seconds: 7 });
});

t.test('an email whose key was used with another body was sent', async (t) => {
  const name = 'invalid_idempotent_request';
  for (const one of [rejection(409, name), respond(409, { name })]) {
    const { url } = await createProvider(t, one);
    await t.resolves(transportTo(url).send(mail));
  }
});

const malformedResponses: Record<string, (response: ServerResponse) => void> = {
  'a page of a proxy with 422': (response) => response.writeHead(422).end('<html>'),
  'a page of a proxy with 502': (response) => response.writeHead(502).end('<html>Bad gateway</html>'),
  'an empty 500': (response) => response.writeHead(500).end(),
  'an error that is null': respond(503, null),
  'an error that is a list': respond(400, []),
  'an error with odd types': respond(400, { statusCode: 'x', name: 7, message: {} }),
  'a 200 that is no JSON': (response) => response.writeHead(200).end('<html>'),
  'a 200 without an id': respond(200, {}),
  'a 200 with an empty id': respond(200, { id: '' }),
  'a 200 whose id is null': respond(200, { id: null }),
  'a 200 that is null': respond(200, null),
  'a 204': (response) => response.writeHead(204).end(),
  'a cut connection': (response) => response.destroy(),
};
t.test('a malformed response is temporary', async (t) => {
  for (const [what, response] of Object.entries(malformedResponses)) {
    const error = await failure(t, response);
    t.notOk(error instanceof MailRejectedError, `${what}: ${error.message}`);
    t.match(error.message, /^Resend /);
  }
});

t.test('a redirect is not followed', async (t) => {
  const elsewhere = await createProvider(t);
  const redirect = (response: ServerResponse) =>
    response.writeHead(307, { location: `${elsewhere.url}/emails` }).end();
  const error = await failure(t, redirect);
  t.notOk(error instanceof MailRejectedError, 'it is temporary');
  t.strictSame(elsewhere.attempts, []);
});

t.test('a connection that is not accepted is temporary', async (t) => {
  const sending = transportTo(`http://127.0.0.1:${await freePort()}`).send(mail);
  await t.rejects(sending, { name: 'Error', message: /^Resend cannot be reached/ });
});

t.test('the time for the response and its body is limited', async (t) => {
  const silences = {
    headers: () => {},
    body: (response: ServerResponse) => void response.writeHead(200).write('{"id":'),
  };
  for (const [what, response] of Object.entries(silences)) {
    const error = await failure(t, response, 150);
    t.notOk(error instanceof MailRejectedError);
    t.match(error.message, /did not respond within 150 ms/, what);
  }
});

t.test('an error never quotes the email, the address or the key', async (t) => {
  const quoting = `Invalid \`text\` field: ${mail.text} ${mail.html} ${mail.to} re_key`;
  for (const response of [
    rejection(422, 'validation_error', quoting),
    rejection(500, 'application_error', quoting),
    rejection(403, 'validation_error', quoting),
    respond(422, { statusCode: 422, name: quoting, message: quoting }),
    respond(422, { statusCode: quoting, name: 'validation_error', message: quoting }),
  ]) {
    const error = await failure(t, response);
    const output = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
    t.notMatch(output, /048213|minji@|re_key/);
  }
});

t.test('codes, reset links and user ids are sent before what waits for a slow provider', async (t) => {
  /** What each email that the provider has not taken yet waits for. */
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const deliver = () => new Promise<void>((resolve) => (isSlow ? waiting.push(resolve) : resolve()));
  const app = await createTestApp({}, { deliver });
  const { sent, settled } = app.mails;
  const { sender, receiver } = await openTwoVerifiedShops(app);
  const posts = await inParallel(12, () => createPost(app, receiver.token));
  await settled();
  await app.pool.query('DELETE FROM mail_sends');
  isSlow = true;
  for (const post of posts) await sendRequest(app, sender, post);
  await until('all senders are busy', () => waiting.length === 2);
  t.equal((await app.call('GET', '/health/ready')).status, 200, 'the provider is not needed to be ready');

  const recover = (path: string, email: string) => app.call('POST', `/auth/${path}/`, { body: { email } });
  await recover('email-verify/send', 'waiting@example.com');
  await recover('reset-password-request', receiver.email);
  await recover('find-id', sender.email);
  await relayed(app);
  const next = async () => {
    const before = sent.length;
    waiting.shift()?.();
    return until('the next mail', () => sent[before]);
  };
  // Those of one batch are due at the same time, in any order.
  const urgent = [await next(), await next(), await next()];
  const textTo = (email: string) => urgent.find(({ to }) => to === email)?.text;
  t.match(textTo('waiting@example.com'), /\b\d{6}\b/);
  t.match(textTo(receiver.email), '/reset-password?');
  t.match(textTo(sender.email), sender.username);
  t.match(await next(), { to: receiver.email, text: '/requests/' });
  isSlow = false;
  for (const take of waiting.splice(0)) take();
  await settled();
  t.equal(sent.filter(({ text }) => text.includes('/requests/')).length, 12);
});
