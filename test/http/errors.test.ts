import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { createTestApp, createUser, password, type TestResponse } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { listen, rawCall } from '../support/raw-http.ts';
import { production } from '../support/service.ts';

/** The headers of a response that do not depend on the request. */
const securityHeadersOf = ({ headers }: TestResponse) => {
  const names = /^(x-(?!request-id|ratelimit)|cross-origin-|content-security-|referrer-|strict-transport-)/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
};

t.test('what is not HTTP has the security headers of other responses', async (t) => {
  const configured = [{ CORS_ORIGINS: ',' }, { ...production, CORS_ORIGINS: 'https://app.example.com' }];
  const { startInstance } = await createTestApp();
  for (const environment of configured) {
    const app = await startInstance(environment);
    const port = await listen(app.app);
    const expected = securityHeadersOf(await app.call('GET', '/auth/nothing/'));
    for (const large of ['', `X-Large: ${'a'.repeat(20_000)}\r\n`]) {
      const head = `GET /auth/me/ HTTP/1.1\r\nHost: x\r\n${large}Bad Header: 1\r\n\r\n`;
      const response = await rawCall(port, head);
      t.equal(response.status, large === '' ? 400 : 431);
      t.strictSame(securityHeadersOf(response), expected);
    }
    t.equal('strict-transport-security' in expected, 'NODE_ENV' in environment);
  }
});

t.test('an unexpected error is internal_error; the log has its cause, no values of the row', async (t) => {
  const app = await (await createTestApp()).startInstance({}, { serverErrors: true });
  const { token } = await createUser(app, { email: 'canary@example.com' });
  await app.pool.query("ALTER TABLE users ADD CHECK (name <> 'canary-name' AND language <> 'en') NOT VALID");
  t.teardown(() => app.pool.query('ALTER TABLE users DROP CONSTRAINT users_check'));
  const headers = { 'accept-language': 'en', 'x-request-id': 'find-me-1' };
  const account = { username: 'canary', email: 'canary-2@example.com', name: 'somebody', password };
  const signedUp = await app.call('POST', '/auth/signup/', { body: account, headers });
  const renamed = await app.call('PATCH', '/auth/me/', { token, body: { name: 'canary-name' } });
  for (const response of [signedUp, renamed]) rejected(t, response, 500, 'internal_error');
  t.equal(signedUp.headers['x-request-id'], 'find-me-1');
  const lines = app.logs.map((line) => JSON.parse(line));
  const error = lines.find(({ reqId, level }) => reqId === 'find-me-1' && level >= 50);
  t.match(error?.err?.message, 'users_check', 'what went wrong is there');
  t.notMatch(app.logs.join(''), /canary|argon2id\$/);
});

t.test('an operation that does not say who may call it stops the start', async (t) => {
  const routes = async (app: FastifyInstance) => {
    const add = () => app.get('/secrets/', { schema: { operationId: 'listSecrets' } }, async () => ({}));
    t.throws(add, /\/secrets\/ does not say who may call it/);
  };
  await (await createTestApp()).startInstance({}, { routes });
});
