import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import {
  createResendTransport,
  MailRejectedError,
  type OutgoingMail,
} from '../../src/infrastructure/mail/transport.ts';

const mail: OutgoingMail = {
  to: 'minji@example.com',
  language: 'ko',
  subject: '[두레] 이메일 인증번호 안내',
  text: '인증번호\n\n048213\n',
  html: '<p>048213</p>',
  idempotencyKey: 'verification-42',
};

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** Starts a fake Resend that answers every request in the same way. */
async function startFakeResend(t: Test, answer: (response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

function json(status: number, body: unknown): (response: ServerResponse) => void {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The error that `send` throws for an answer of the provider. */
async function failure(
  t: Test,
  answer: (response: ServerResponse) => void,
  timeoutMs = 5000,
): Promise<Error> {
  const { baseUrl } = await startFakeResend(t, answer);
  const transport = createResendTransport({
    apiKey: 're_key',
    from: 'Dure <no-reply@dure.example>',
    baseUrl,
    timeoutMs,
  });
  const error: unknown = await transport.send(mail).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error('the mail was accepted');
  return error;
}

function refusal(statusCode: number, name: string, message = 'Something is wrong') {
  return json(statusCode, { statusCode, name, message });
}

t.test('sends the mail with the key, the idempotency key and all its parts', async (t) => {
  const { baseUrl, received } = await startFakeResend(t, json(200, { id: '49a3999c' }));
  await createResendTransport({
    apiKey: 're_key',
    from: 'Dure <no-reply@dure.example>',
    baseUrl: `${baseUrl}/`,
  }).send(mail);

  t.equal(received.length, 1);
  const request = received[0];
  t.equal(request?.method, 'POST');
  t.equal(request?.url, '/emails');
  t.equal(request?.headers.authorization, 'Bearer re_key');
  t.equal(request?.headers['idempotency-key'], 'verification-42');
  t.same(request?.body, {
    from: 'Dure <no-reply@dure.example>',
    to: 'minji@example.com',
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
  });
});

t.test('sends the headers of a mail', async (t) => {
  const { baseUrl, received } = await startFakeResend(t, json(200, { id: '49a3999c' }));
  const headers = { 'List-Unsubscribe': '<https://api.example.com/?token=a>' };
  const transport = createResendTransport({ apiKey: 're_key', from: 'a@dure.example', baseUrl });
  await transport.send({ ...mail, headers });
  t.match(received[0]?.body, { headers });
});

t.test('reads nothing from the environment', async (t) => {
  const elsewhere = await startFakeResend(t, json(200, { id: 'x' }));
  const { baseUrl, received } = await startFakeResend(t, json(200, { id: 'x' }));
  t.intercept(process, 'env', {
    value: {
      ...process.env,
      RESEND_BASE_URL: elsewhere.baseUrl,
      RESEND_USER_AGENT: 'else',
      RESEND_API_KEY: 're_else',
    },
  });
  await createResendTransport({ apiKey: 're_key', from: 'a@dure.example', baseUrl }).send(mail);
  t.equal(received[0]?.headers['user-agent'], 'dure');
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
  t.equal(elsewhere.received.length, 0);
});

const permanent: [number, string, string?][] = [
  [400, 'validation_error'],
  [
    422,
    'validation_error',
    'Invalid `to` field. The email address needs to follow the `email@example.com` format.',
  ],
  [422, 'missing_required_field'],
  [422, 'invalid_parameter'],
  [400, 'invalid_idempotency_key'],
  [409, 'invalid_idempotent_request'],
];
for (const [status, name, message] of permanent) {
  t.test(`${status} ${name} is permanent`, async (t) => {
    const error = await failure(t, refusal(status, name, message));
    t.ok(error instanceof MailRejectedError, error.message);
    t.match(error.message, `${status} ${name}`);
  });
}

t.test('the reason names the invalid field', async (t) => {
  const error = await failure(t, refusal(422, 'validation_error', 'Invalid `to` field.'));
  t.match(error.message, /field "to"/);
});

const temporary: [number, string, string?][] = [
  [401, 'missing_api_key'],
  [401, 'restricted_api_key'],
  [403, 'invalid_api_key'],
  [403, 'validation_error', 'The dure.example domain is not verified.'],
  [422, 'invalid_from_address'],
  [422, 'validation_error', 'Invalid `from` field.'],
  [404, 'not_found'],
  [409, 'concurrent_idempotent_requests'],
  [429, 'rate_limit_exceeded'],
  [429, 'daily_quota_exceeded'],
  [429, 'validation_error'],
  [451, 'security_error'],
  [500, 'application_error'],
  [500, 'internal_server_error'],
  [503, 'validation_error'],
  [422, 'something_new'],
];
for (const [status, name, message] of temporary) {
  t.test(`${status} ${name}${message === undefined ? '' : ` (${message})`} is temporary`, async (t) => {
    const error = await failure(t, refusal(status, name, message));
    t.notOk(error instanceof MailRejectedError, error.message);
    t.match(error.message, `${status} ${name}`);
  });
}

t.test('the reason of a configuration error names the setting to check', async (t) => {
  t.match((await failure(t, refusal(403, 'invalid_api_key'))).message, /RESEND_API_KEY/);
  t.match((await failure(t, refusal(422, 'invalid_from_address'))).message, /MAIL_FROM/);
});

const malformedAnswers: Record<string, (response: ServerResponse) => void> = {
  'a page of a proxy with 422': (response) => response.writeHead(422).end('<html>'),
  'a page of a proxy with 502': (response) => response.writeHead(502).end('<html>Bad gateway</html>'),
  'an empty 500': (response) => response.writeHead(500).end(),
  'an error that is null': json(503, null),
  'an error that is a text': json(503, 'down'),
  'an error that is a list': json(400, []),
  'an error with odd types': json(400, { statusCode: 'x', name: 7, message: {} }),
  'a 200 that is no JSON': (response) => response.writeHead(200).end('<html>'),
  'a 200 without an id': json(200, {}),
  'a 200 with an empty id': json(200, { id: '' }),
  'a 200 that is null': json(200, null),
  'a 204': (response) => response.writeHead(204).end(),
  'a cut connection': (response) => response.destroy(),
};
for (const [what, answer] of Object.entries(malformedAnswers)) {
  t.test(`${what} is temporary`, async (t) => {
    const error = await failure(t, answer);
    t.notOk(error instanceof MailRejectedError, error.message);
    t.match(error.message, /^Resend /);
  });
}

t.test('a redirect is not followed', async (t) => {
  const elsewhere = await startFakeResend(t, json(200, { id: 'accepted' }));
  const redirect = (response: ServerResponse) =>
    response.writeHead(307, { location: `${elsewhere.baseUrl}/emails` }).end();
  const error = await failure(t, redirect);
  t.notOk(error instanceof MailRejectedError, 'it is temporary');
  t.strictSame(elsewhere.received, []);
});

t.test('a refused connection is temporary', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const transport = createResendTransport({
    apiKey: 'k',
    from: 'a@b.example',
    baseUrl: `http://127.0.0.1:${port}`,
  });
  await t.rejects(transport.send(mail), { name: 'Error', message: /^Resend cannot be reached/ });
});

t.test('the time for the answer and its body is limited', async (t) => {
  const silent = {
    headers: () => {},
    body: (response: ServerResponse) => void response.writeHead(200).write('{"id":'),
  };
  for (const [what, answer] of Object.entries(silent)) {
    const started = Date.now();
    const error = await failure(t, answer, 150);
    t.notOk(error instanceof MailRejectedError);
    t.match(error.message, /did not respond within 150 ms/, what);
    t.ok(Date.now() - started < 2000, what);
  }
});

t.test('an error never quotes the mail, the address or the key', async (t) => {
  const quoting = `Invalid \`text\` field: ${mail.text} ${mail.html} ${mail.to} re_key`;
  for (const answer of [
    refusal(422, 'validation_error', quoting),
    refusal(500, 'application_error', quoting),
    refusal(403, 'validation_error', quoting),
    json(422, { statusCode: 422, name: quoting, message: quoting }),
    json(422, { statusCode: quoting, name: 'validation_error', message: quoting }),
  ]) {
    const error = await failure(t, answer);
    const output = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
    t.notMatch(output, /048213|minji@|re_key/);
  }
});
