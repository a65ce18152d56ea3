import { randomUUID } from 'node:crypto';
import t from 'tap';
import { createDerivedSecrets } from '../../src/domains/auth/secrets.ts';
import { createUnsubscribeLinks } from '../../src/domains/notifications/preferences/routes.ts';
import { toSecrets } from '../../src/infrastructure/config/keys.ts';
import { createAdmin } from '../support/admin.ts';
import { type CallOptions, createTestApp, testEnvironment } from '../support/app.ts';
import { contract, type DocumentedOperation } from '../support/contract.ts';
import { createTestDatabase } from '../support/database.ts';
import { createTcpProxy } from '../support/tcp-proxy.ts';
import {
  createOperationsApp,
  eachOperation,
  notRejected,
  operations,
  requiresToken,
  unknownPath,
  validBody,
} from './operations.ts';

/*
 * The errors that every operation can respond with. Each call compares its response with the document.
 * `bodies.test.ts` has what a body that cannot be read looks like.
 */

t.test('every operation rejects what it cannot read, and checks who calls before the input', async (t) => {
  const { app, pathOf, tokenFor } = await createOperationsApp();
  const json = { 'content-type': 'application/json' };
  await eachOperation(t, operations, 60, async (operation) => {
    const { method, path, operationId, security = [], requestBody, parameters = [] } = operation;
    const problems: string[] = [];
    const token = security.length > 0 ? tokenFor(path) : undefined;
    const expect = async (status: number, code: string, options: CallOptions, query = '') => {
      const response = await app.call(method, pathOf(operation) + query, options);
      problems.push(...notRejected(response, status, code));
    };
    const takesFile = requestBody?.content['multipart/form-data'] !== undefined;
    const takesForm = operationId === 'unsubscribe';
    const unsupported = takesFile
      ? ['application/json', 'image/png']
      : ['text/plain', ...(takesForm ? [] : ['application/x-www-form-urlencoded'])];
    for (const type of method === 'GET' ? [] : unsupported) {
      const headers = { 'content-type': type };
      await expect(415, 'unsupported_media_type', { token, body: 'a=b', headers });
    }
    if (method !== 'GET' && !takesFile) {
      await expect(400, 'malformed_json', { token, body: '{', headers: json });
      const body = ' '.repeat(128 * 1024 + 1);
      await expect(413, 'payload_too_large', { token, body, headers: json });
    }
    const query = '?unknown=1';
    const input = method === 'GET' ? {} : { body: { unknown: 1 } };
    await expect(400, 'validation_error', { token }, query);
    if (requiresToken(operation)) await expect(401, 'not_authenticated', input, query);
    else await expect(400, 'validation_error', input, query);
    const wrong = { ...input, token: 'not-a-token' };
    if (security.length > 0) await expect(401, 'token_not_valid', wrong, query);
    else await expect(400, 'validation_error', wrong, query);
    if (parameters.some(({ name }) => name === 'cursor'))
      await expect(400, 'invalid_cursor', { token }, '?cursor=x');
    return problems;
  });
});

t.test('every operation is limited', async (t) => {
  const app = await (await createTestApp()).startInstance({ RATE_LIMIT_ENABLED: 'true' });
  const limited = contract.operations.filter(({ path }) => !path.startsWith('/health/'));
  await eachOperation(t, limited, 90, async (operation) => {
    for (let request = 0; request <= 300; request++) {
      const { status } = await app.call(operation.method, unknownPath(operation));
      if (status === 429) return [];
    }
    return ['has no limit'];
  });
});

t.test('without the database, and with a broken one, every operation that needs it says so', async (t) => {
  const proxy = await createTcpProxy(t, await createTestDatabase());
  const options = { serverErrors: true, databaseUrl: proxy.url };
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, options);
  const { id, token, refresh } = await createAdmin(app);
  // Genuine tokens, which are checked in the database.
  const { newToken } = createDerivedSecrets(toSecrets(testEnvironment.JWT_SECRET));
  const [uid = '', resetToken = ''] = newToken('password reset', randomUUID()).split('.');
  const newUser = { username: 'somebody', name: '김두레', email: 'somebody@example.com' };
  const bodies: Record<string, unknown> = {
    signUp: { ...newUser, password: 'bibimbap-for-two' },
    refreshToken: { refresh },
    logOut: undefined,
    finishLogin: { second_factor_token: newToken('second_factor flow', randomUUID()), code: '123456' },
    undoEmailChange: { token: newToken('email change', randomUUID()) },
    signUpWithProvider: { sign_up_token: newToken('sign_up flow', randomUUID()), ...newUser },
    confirmPasswordReset: { uid, token: resetToken, new_password: 'bibimbap-for-two' },
    unsubscribe: undefined,
  };
  const { url } = createUnsubscribeLinks(app.config);
  const queries: Record<string, string> = {
    validatePasswordReset: `?uid=${uid}&token=${resetToken}`,
    unsubscribe: new URL(url({ userId: id, topic: 'saved_search_match' })).search,
  };
  const rejectedAs = (status: number, code: string) => async (operation: DocumentedOperation) => {
    const { operationId, method } = operation;
    const body = operationId in bodies ? bodies[operationId] : validBody(operation);
    const path = unknownPath(operation) + (queries[operationId] ?? '');
    return notRejected(await app.call(method, path, { token, body }), status, code);
  };
  const withDatabase = operations.filter(
    ({ operationId }) => !/^(?:listLoginProviders|listConsents|showUnsubscribePage)$/.test(operationId),
  );

  await proxy.cut();
  await eachOperation(t, withDatabase, 60, rejectedAs(503, 'service_unavailable'));
  await proxy.restore();
  const { rows } = await app.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  for (const { tablename } of rows)
    await app.pool.query(`ALTER TABLE ${tablename} RENAME TO lost_${tablename}`);
  await eachOperation(t, withDatabase, 60, rejectedAs(500, 'internal_error'));
});
