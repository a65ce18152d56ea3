import { randomBytes } from 'node:crypto';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { MailRejectedError } from '../../../src/infrastructure/mail/transport.ts';
import { createTestApp, signUpUser, verifyEmails } from '../../support/app.ts';
import { inParallel } from '../../support/concurrency.ts';
import type { Json } from '../../support/json.ts';
import { listen, rawConnection, rawRequest } from '../../support/raw-http.ts';
import { serve } from '../../support/serve.ts';
import { until } from '../../support/until.ts';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** What a client sends that is traced itself. */
function newTrace() {
  const traceId = hex(16);
  const spanId = hex(8);
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** A span as OTLP/HTTP sends it in JSON. */
interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 2: server, 3: client, 5: consumer. */
  kind: number;
  status: { code?: number };
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
}

/** Starts a receiver of OTLP/HTTP that keeps what it gets, and stops with the test. */
async function createCollector(t: Test) {
  const received: unknown[] = [];
  const spans: ReceivedSpan[] = [];
  /** Attributes of the processes that sent spans. */
  const resources: Record<string, unknown>[] = [];
  const url = await serve(t, async (request, response) => {
    const body: Json = await json(request);
    received.push(request.url, body);
    for (const { resource, scopeSpans } of body.resourceSpans) {
      resources.push(toObject(resource.attributes));
      for (const span of scopeSpans.flatMap((scope: Json) => scope.spans))
        spans.push({ ...span, attributes: toObject(span.attributes), links: span.links ?? [] });
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  /** Everything as it came. */
  const text = () => JSON.stringify(received);
  return { url, spans, resources, text };
}

function toObject(attributes: Json[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

t.test('requests, their statements and their emails are traced, without any value', async (t) => {
  const collector = await createCollector(t);
  let deliveries = 0;
  const app = await createTestApp(
    { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, DATABASE_POOL_SIZE: '2' },
    {
      serverErrors: true,
      async deliver({ to, text }) {
        if (to.startsWith('refused')) throw new MailRejectedError(`canary ${text}`);
        // The emails of both sign-ups are sent in any order.
        deliveries += 1;
        if (deliveries === 1) throw new Error(`canary ${to} ${text}`);
      },
    },
  );
  const name = '카나리아';
  const user = await signUpUser(app, { username: 'canary_shop', email: 'canary@example.com', name });
  const rejected = await signUpUser(app, { email: 'refused@example.com' });
  await verifyEmails(app, user, rejected);
  await app.mails.settled();
  deliveries = 0;

  const trace = newTrace();
  const reset = '/auth/reset-password-request/';
  await app.call('POST', reset, { body: { email: user.email }, headers: trace.headers });
  await app.mails.settled();
  await app.call('POST', reset, { body: { email: rejected.email }, headers: newTrace().headers });
  await app.mails.settled();
  const stored = await app.pool.query('SELECT payload FROM failed_mails');
  t.equal(stored.rows.length, 2, 'the email of the sign-up and that of the reset');
  for (const { payload } of stored.rows) t.notOk('traceparent' in payload);

  await app.call('GET', '/auth/reset-password-validate/?uid=canary-uid&token=canary-token', {
    headers: { baggage: 'canary=1', cookie: 'canary=1', 'user-agent': 'canary' },
  });
  await app.call('GET', '/canary/unknown/?canary=1');
  const wrong = { username: user.username, password: 'canary-password-1' };
  await app.call('POST', '/auth/login/', { body: wrong });
  await app.call('GET', '/health/live');
  const notTraced = { ...newTrace(), headers: { traceparent: `00-${hex(16)}-${hex(8)}-00` } };
  await app.call('GET', '/auth/me/', { token: user.token, headers: notTraced.headers });
  const broken = newTrace();
  await app.pool.query('ALTER TABLE stores RENAME TO stores_gone');
  await app.call('GET', '/api/v1/stores/', { token: user.token, headers: broken.headers });
  await app.pool.query('ALTER TABLE stores_gone RENAME TO stores');
  const parallel = Array.from({ length: 30 }, newTrace);
  await inParallel(30, (index) =>
    app.call('POST', '/auth/login/', {
      body: { username: `canary${index}`, password: 'canary-password-1' },
      headers: parallel[index]?.headers ?? {},
    }),
  );
  // Over a socket, where the body is read and the end of the response is seen by events of the connection.
  const port = await listen(app.app);
  const overSocket = newTrace();
  const response = await fetch(`http://127.0.0.1:${port}/auth/find-id/`, {
    method: 'POST',
    headers: { ...overSocket.headers, 'content-type': 'application/json' },
    body: '{"email": ',
  });
  t.equal(response.status, 400);
  const inPieces = newTrace();
  const connection = await rawConnection(port);
  const headers = { ...inPieces.headers, connection: 'close' };
  const request = rawRequest('POST', reset, headers, JSON.stringify({ email: user.email }));
  // The rest of the body comes when its beginning was read.
  for (const piece of [request.slice(0, -9), request.slice(-9)]) {
    connection.send(piece);
    await fetch(`http://127.0.0.1:${port}/health/live`);
  }
  t.equal((await connection.response()).status, 200);
  const metrics = (await app.call('GET', '/metrics')).text;
  await app.close();
  const { spans } = collector;
  // Sent at the end, for which closing waits a few seconds only.
  await until('the last spans', () =>
    [trace, inPieces].every((one) =>
      spans.some(({ traceId, kind }) => traceId === one.traceId && kind === 2),
    ),
  );
  const server = spans.find(({ traceId, name }) => traceId === trace.traceId && name.endsWith(reset));

  await t.test('the span of a request continues the trace of the client', async (t) => {
    t.match(server, {
      name: `POST ${reset}`,
      kind: 2,
      parentSpanId: trace.spanId,
      attributes: { 'http.request.method': 'POST', 'http.route': reset, 'http.response.status_code': 200 },
    });
    const unknown = spans.filter(({ name, kind }) => name === 'GET' && kind === 2);
    t.not(unknown.length, 0, 'an unknown path has no route');
    t.notOk(spans.some(({ name }) => name.includes('health')));
    const alone = spans.filter(({ kind, parentSpanId }) => kind === 3 && !parentSpanId);
    t.strictSame(alone, [], 'no statement is by itself');
    t.notOk(collector.text().includes(String(notTraced.headers.traceparent.split('-')[1])), 'not sampled');
  });

  await t.test('statements are below their request, by name', async (t) => {
    const statements = spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    const names = statements.map(({ name }) => name);
    for (const expected of ['BEGIN', 'SELECT users', 'mails.add', 'COMMIT']) {
      t.ok(names.includes(expected), `${expected} in ${names}`);
    }
    const [late] = spans.filter(({ traceId, kind }) => traceId === inPieces.traceId && kind === 2);
    const ofLate = spans.filter(({ parentSpanId }) => parentSpanId === late?.spanId);
    t.ok(ofLate.map(({ name }) => name).includes('BEGIN'), 'also where the body came later');
    t.match(statements[0], { kind: 3, attributes: { 'db.system.name': 'postgresql' } });
    for (const { traceId } of parallel) {
      const own = spans.filter((span) => span.traceId === traceId);
      const [request] = own.filter(({ kind }) => kind === 2);
      const below = own.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
      t.equal(below.length, own.length - 1);
      t.equal(below.filter(({ name }) => name === 'auth.loginDelay').length, 1, 'of this request');
    }
    const failed = spans.filter((span) => span.traceId === broken.traceId && span.status.code === 2);
    t.match(failed.map(({ kind, attributes }) => [kind, attributes['error.type']]).sort(), [
      [2, '500'],
      [3, '42P01'],
    ]);
  });

  await t.test('each attempt to send an email is linked to the request that queued it', async (t) => {
    const attempts = spans.filter(
      ({ name, links }) => name === 'send_mail' && links.some(({ spanId }) => spanId === server?.spanId),
    );
    t.match(attempts, [
      { attributes: { 'dure.mail.attempt': 1 }, status: { code: 2 } },
      { attributes: { 'dure.mail.attempt': 2 }, status: { code: 0 } },
    ]);
    for (const { kind, traceId, spanId, links } of attempts) {
      t.equal(kind, 5);
      t.not(traceId, trace.traceId);
      t.match(links, [{ traceId: trace.traceId }]);
      const below = spans.filter(({ parentSpanId }) => parentSpanId === spanId).map((span) => span.name);
      t.ok(below.includes('deliver mail') && below.some((one) => one.startsWith('SELECT ')), String(below));
    }
  });

  await t.test('the log names the trace in each line of a request and of its email', async (t) => {
    const lines: Record<string, unknown>[] = app.logs.map((line) => JSON.parse(line));
    const messagesOf = ({ traceId }: { traceId: string }) =>
      lines.filter((line) => line['trace_id'] === traceId).map((line) => line['msg']);
    t.strictSame(messagesOf(trace), ['security event: password_reset_requested', 'request']);
    t.strictSame(messagesOf(overSocket), ['request rejected', 'request']);
    t.strictSame(messagesOf(inPieces), ['security event: password_reset_requested', 'request']);
    const mail = lines.filter((line) => line['request_trace_id'] === trace.traceId);
    t.match(mail, [{ msg: 'mail sent', trace_id: /^[\da-f]{32}$/, span_id: /^[\da-f]{16}$/ }]);
  });

  await t.test('emails and jobs are counted by their outcome', async (t) => {
    for (const sample of [
      'mails_total{kind="verification_code",outcome="retried"} 1',
      'mails_total{kind="verification_code",outcome="sent"} 1',
      'mails_total{kind="verification_code",outcome="failed"} 1',
      'mails_total{kind="reset_link",outcome="retried"} 1',
      'mails_total{kind="reset_link",outcome="sent"} 1',
      'mails_total{kind="reset_link",outcome="failed"} 1',
      'queue_job_runs_total{task="send_mail",outcome="retried"} 2',
      'queue_job_runs_total{task="send_mail",outcome="failed"} 0',
      'failed_mails 2',
    ]) {
      t.ok(metrics.includes(`\n${sample}\n`), sample);
    }
  });

  const text = collector.text();
  t.match(collector.resources[0], {
    'service.name': 'dure',
    'service.version': /^\d/,
    'service.instance.id': /^[\da-f-]{36}$/,
  });
  for (const secret of ['canary', name, user.token, '@example.com', user.password]) t.notMatch(text, secret);
});
