import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createTestApp } from '../support/app.ts';
import { createContract, type DocumentedOperation, documentPath, readDocument } from '../support/contract.ts';

/** Every code by its status: the table of the contract, and codes of malformed HTTP. */
const codes: Record<string, string[]> = {
  400: [
    'validation_error',
    'malformed_json',
    'invalid_code',
    'reset_link_invalid',
    'verification_token_invalid',
    'invalid_cursor',
  ],
  401: ['not_authenticated', 'token_not_valid', 'invalid_credentials'],
  403: ['store_required', 'forbidden', 'account_suspended'],
  404: ['store_not_found', 'post_not_found', 'partner_request_not_found', 'session_not_found'],
  409: [
    'username_taken',
    'email_taken',
    'store_exists',
    'own_post',
    'already_requested',
    'invalid_transition',
    'idempotency_conflict',
  ],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited', 'too_many_attempts', 'quota_exceeded'],
  500: ['internal_error'],
  503: ['service_unavailable'],
};
const unreadable = ['malformed_request', 'request_timeout', 'headers_too_large'];

const contract = createContract();
const { document, operations } = contract;
const api = operations.filter(({ path }) => /^\/(?:auth|api)\//.test(path));
const text = readFileSync(documentPath, 'utf8');

/** The schema behind the answers of an operation with a status. */
function answerSchema({ responses }: DocumentedOperation, status: string) {
  const name = responses[status]?.content?.['application/json']?.schema.$ref?.split('/').at(-1) ?? '';
  return document.components.schemas[name] as {
    properties: Record<string, { properties: Record<string, never> }>;
  };
}

/** The codes that an operation can fail with. */
function codesOf(operation: DocumentedOperation, status: string): string[] {
  const { enum: values = [] } = answerSchema(operation, status).properties.data?.properties.code ?? {};
  return values;
}

async function run(command: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, command, {
    cwd: dirname(documentPath),
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', NODE_OPTIONS: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const [code] = await once(child, 'close');
  return { code, output };
}

t.test('every operation has an id, a summary, a description, a tag and its security', async (t) => {
  t.match(document.openapi, /^3\.1\./);
  const ids = operations.map(({ operationId }) => operationId);
  t.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  const tags = document.tags.map(({ name }) => name);
  for (const operation of operations) {
    const { operationId, summary, description, path } = operation;
    t.match(operationId, /^[a-z]+(?:[A-Z][a-z]+)*$/);
    t.ok(summary && !summary.endsWith('.'), `${operationId} has a summary`);
    t.match(description, /\.$/, `${operationId} has a description`);
    t.ok(operation.tags?.length === 1 && operation.tags.every((tag) => tags.includes(tag)));
    t.ok(operation.security, `${operationId} says whom it asks for`);
    for (const answer of Object.values(operation.responses)) t.not(answer.description, 'Default Response');
    if (api.includes(operation)) t.ok(path.endsWith('/'), 'paths are canonical');
  }
});

t.test('every failure is documented with its codes', async (t) => {
  for (const operation of api) {
    const { operationId, method, responses, security = [] } = operation;
    const failures = Object.keys(responses).filter((status) => Number(status) >= 400);
    const always = ['429', '500', '503'];
    const withBody = method === 'GET' ? [] : ['400', '413', '415'];
    const withUser = security.length > 0 ? ['401'] : [];
    for (const status of [...always, ...withBody, ...withUser])
      t.ok(failures.includes(status), `${operationId} ${status}`);
    for (const status of failures) {
      const found = codesOf(operation, status);
      t.ok(
        found.length > 0 && found.every((code) => codes[status]?.includes(code)),
        `${operationId} ${status}: ${found}`,
      );
      t.strictSame(Object.keys(responses[status]?.content?.['application/json']?.examples ?? {}), found);
    }
    // At least an unknown query parameter is refused.
    t.ok(codesOf(operation, '400').includes('validation_error'), operationId);
  }
  for (const operation of operations.filter((one) => !api.includes(one))) {
    t.strictSame(codesOf(operation, '4XX'), unreadable);
  }
});

t.test('bodies and answers are named components with valid examples', async (t) => {
  for (const operation of operations) {
    const { operationId, requestBody, responses } = operation;
    const media = [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    for (const { schema, examples = {} } of media) {
      t.match(schema.$ref, /^#\/components\/schemas\/[A-Z][A-Za-z]+$/, operationId);
      for (const [name, example] of Object.entries(examples)) {
        const { value } = document.components.examples[example.$ref.split('/').at(-1) ?? ''] ?? {};
        const place = schema.$ref?.split('/').slice(1) ?? [];
        t.strictSame(contract.schemaProblems(place, value), [], `${operationId}: ${name}`);
      }
    }
    for (const status of Object.keys(responses)) {
      if (!api.includes(operation) || !responses[status]?.content?.['application/json']) continue;
      const { success, message, data } = answerSchema(operation, status).properties as Record<
        string,
        unknown
      >;
      t.match(success, { enum: [Number(status) < 400] });
      t.match(message, { type: 'string' });
      t.ok(data);
    }
  }
  t.notMatch(text, /textRule|\$id|x-dure|def-\d|schema-\d/);
  t.notMatch(text, /undefined|\[object/);
});

t.test('optional parameters and bodies are documented as optional', async (t) => {
  const find = (id: string) => operations.find(({ operationId }) => operationId === id);
  for (const { name, required, schema } of operations.flatMap(({ parameters = [] }) => parameters)) {
    if ('default' in schema) t.notOk(required, `${name} has a default`);
  }
  t.equal(find('logOut')?.requestBody?.required, false, 'a Bearer token is enough');
  t.equal(find('signUp')?.requestBody?.required, true);
  t.equal(find('updateCurrentUser')?.requestBody?.required, true);
});

t.test('the documented security is that of the service', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  for (const { method, path, operationId, security = [] } of operations) {
    const answer = await app.call(method, path.replace(/\{\w+\}/g, '1'));
    const asks = answer.status === 401 && answer.body.data.code === 'not_authenticated';
    const isRequired = security.length > 0 && security.every((one) => 'bearer' in one);
    // Logout needs one of two tokens.
    t.equal(asks, isRequired || operationId === 'logOut', operationId);
    const withToken = await app.call(method, path.replace(/\{\w+\}/g, '1'), { token: 'not-a-token' });
    t.equal(withToken.body?.data?.code === 'token_not_valid', security.length > 0, operationId);
  }
});

t.test('the committed document is served', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const yaml = await app.call('GET', '/openapi.yaml');
  t.match(yaml.headers['content-type'], 'application/yaml');
  t.equal(yaml.text, text);
  const json = await app.call('GET', '/openapi.json');
  t.match(json.headers['content-type'], 'application/json');
  t.strictSame(json.body, parse(text));
  t.strictSame((await app.call('GET', '/docs/json')).body, parse(text), 'and shown so in Swagger UI');
});

t.test('the document passes the linter without a warning', async (t) => {
  const cli = join(
    dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')),
    'bin/cli.js',
  );
  const { code, output } = await run([cli, 'lint', 'openapi.yaml', '--format=json']);
  t.equal(code, 0, output);
  const report = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1));
  t.match(report.totals, { errors: 0, warnings: 0 }, output);
});

t.test('the check detects a stale file', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'dure-openapi-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const check = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return run(['build/scripts/export-openapi.js', '--check', path]);
  };
  const [fresh, longer, changed] = await Promise.all([
    check('fresh.yaml', text),
    check('longer.yaml', `${text}\n`),
    check('changed.yaml', text.replace('operationId: logIn', 'operationId: login')),
  ]);
  t.strictSame(fresh, { code: 0, output: '' });
  for (const stale of [longer, changed]) {
    t.equal(stale?.code, 1);
    t.match(stale?.output, 'is stale: run `npm run openapi`');
  }
  t.equal(readFileSync(join(directory, 'longer.yaml'), 'utf8'), `${text}\n`, 'it never writes');
});

t.test('the contract checker detects wrong answers', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const path = '/auth/me/?a=1';
  const answer = await app.call('GET', path);
  t.strictSame(contract.problems('GET', path, answer), []);
  const changed = (change: (data: Record<string, unknown>) => void) => {
    const copy = structuredClone(answer);
    change(copy.body.data);
    return contract.problems('GET', path, copy).length;
  };
  t.equal(
    changed((data) => delete data.code),
    1,
  );
  t.equal(
    changed((data) => Object.assign(data, { code: 'other' })),
    1,
  );
  t.equal(
    changed((data) => Object.assign(data, { secret: 1 })),
    1,
  );
  t.equal(contract.problems('GET', path, { ...answer, status: 418 }).length, 1);
  t.equal(
    contract.problems('GET', path, { ...answer, headers: { 'content-type': 'application/json' } }).length,
    1,
  );
  t.equal(contract.problems('PUT', path, answer).length, 1);
  t.equal(readDocument().openapi, document.openapi);
});
