import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse, Schema as YamlSchema } from 'yaml';
import { createTestApp } from '../../support/app.ts';
import {
  contract,
  type DocumentedOperation,
  type DocumentedResponse,
  documentPath,
  type Schema,
} from '../../support/contract.ts';
import { readText } from '../../support/files.ts';
import { replace } from '../../support/timers.ts';

/** Every code by its status: the table of the contract, and codes of malformed HTTP. */
const codes = Object.fromEntries(
  Object.entries({
    400: `validation_error malformed_json invalid_code invalid_cursor invalid_image reset_link_invalid
      verification_token_invalid undo_link_invalid second_factor_token_invalid passkey_refused provider_refused
      sign_up_token_invalid link_token_invalid malformed_request`,
    401: 'not_authenticated token_not_valid invalid_credentials second_factor_required',
    403: 'store_required forbidden account_suspended confirmation_required sign_up_required',
    404: `not_found store_not_found post_not_found partner_request_not_found session_not_found image_not_found
      passkey_not_found provider_not_found identity_not_found saved_search_not_found subscription_not_found`,
    409: `username_taken email_taken store_exists own_post post_closed already_requested image_in_use
      invalid_transition idempotency_conflict already_reported second_factor_exists too_many_saved_searches
      last_login_method too_many_passkeys link_required identity_taken too_many_subscriptions`,
    408: 'request_timeout',
    412: 'precondition_failed',
    413: 'payload_too_large',
    415: 'unsupported_media_type',
    429: 'rate_limited too_many_attempts quota_exceeded',
    503: 'service_unavailable',
  }).map(([status, names]) => [status, names.split(/\s+/)]),
);
/** What any operation may respond with. */
const otherCodes =
  `service_unavailable internal_error unsupported_media_type payload_too_large method_not_allowed
  request_timeout uri_too_long headers_too_large`.split(/\s+/);

const { document, operations, codesOf } = contract;
const { schemas } = document.components;
/** Without the redirects of browsers. */
const api = operations.filter(
  ({ path, responses }) => /^\/(?:auth|api)\//.test(path) && !('303' in responses),
);
const text = readFileSync(documentPath, 'utf8');

const nameOf = ({ $ref = '' }: { $ref?: string }) => $ref.split('/').at(-1) ?? '';

/** The schema behind the responses of an operation with a status. */
function responseSchema({ responses }: DocumentedOperation, status: string): Schema {
  return schemas[nameOf(responses[status]?.content?.['application/json']?.schema ?? {})] ?? {};
}

/** A schema and every schema inside it, each with its place. */
function* walk(schema: Schema, place: string): Generator<[string, Schema]> {
  yield [place, schema];
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* walk(property, `${place}.${name}`);
  if (schema.items) yield* walk(schema.items, `${place}[]`);
  for (const form of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) yield* walk(form, place);
}

const everySchema = Object.entries(schemas).flatMap(([name, schema]) => [...walk(schema, name)]);

t.test('every operation has an id, a summary, a description, a tag and its security', async (t) => {
  t.ok(operations.length >= 62);
  t.ok(api.length >= 60);
  t.ok(everySchema.length > Object.keys(schemas).length && Object.keys(schemas).length >= 150);
  t.match(document.openapi, /^3\.1\./);
  for (const operation of operations) {
    const { operationId, summary, description, path } = operation;
    t.match(operationId, /^[a-z]+(?:[A-Z][a-z]+)*$/);
    t.ok(summary && !summary.endsWith('.'), `${operationId} has a summary`);
    t.match(description, /\.$/, `${operationId} has a description`);
    t.equal(operation.tags?.length, 1);
    t.ok(operation.security, `${operationId} says whom it asks for`);
    if (api.includes(operation)) t.ok(path.endsWith('/'), 'paths are canonical');
  }
});

t.test('every error is documented with its codes', async (t) => {
  for (const operation of api) {
    const { operationId, responses, security = [] } = operation;
    const failures = Object.keys(responses).filter((status) => Number(status) >= 400);
    const withUser = security.length > 0 ? ['401'] : [];
    for (const status of ['400', '429', ...withUser])
      t.ok(failures.includes(status), `${operationId} ${status}`);
    for (const status of failures) {
      const found = codesOf(operation, status);
      const areKnown = found.length > 0 && found.every((code) => codes[status]?.includes(code));
      t.ok(areKnown, `${operationId} ${status}: ${found}`);
    }
    // At least an unknown query parameter is rejected.
    t.ok(codesOf(operation, '400').includes('validation_error'), operationId);
    t.equal(codesOf(operation, '400').includes('malformed_json'), takesJson(operation), operationId);
  }
  for (const operation of operations) {
    t.strictSame(codesOf(operation, 'default'), otherCodes);
    t.ok(codesOf(operation, '400').includes('malformed_request'), operation.operationId);
  }
  const documented = new Set(
    operations.flatMap((one) => Object.keys(one.responses).flatMap((status) => codesOf(one, status))),
  );
  const all = new Set([...Object.values(codes).flat(), ...otherCodes]);
  t.strictSame([...documented].sort(), [...all].sort());
});

/** Whether it reads a body, even where it needs none. */
const takesJson = ({ method, requestBody }: DocumentedOperation) =>
  method !== 'GET' && !requestBody?.content['multipart/form-data'];

t.test('bodies and responses are named components', async (t) => {
  for (const operation of operations) {
    const { operationId, requestBody, responses } = operation;
    const media = [requestBody, ...Object.values(responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    for (const { schema } of media)
      t.match(schema.$ref, /^#\/components\/schemas\/[A-Z][A-Za-z]+$/, operationId);
    for (const status of Object.keys(responses)) {
      if (!api.includes(operation) || !responses[status]?.content?.['application/json']) continue;
      // A file.
      if (operationId === 'downloadOwnData' && status === '200') continue;
      const { success, message, data } = responseSchema(operation, status).properties ?? {};
      t.equal(nameOf(success ?? {}), Number(status) < 400 ? 'Succeeded' : 'Failed');
      t.ok(nameOf(message ?? {}) === 'Message' || message?.type === 'string');
      t.ok(data);
    }
  }
  for (const [name, { example }] of Object.entries(document.components.headers))
    t.strictSame(contract.schemaProblems(['components', 'headers', name, 'schema'], example), [], name);
  t.notMatch(text, /Default Response|textRule|\$id|x-dure|def-\d|schema-\d/);
  t.notMatch(text, /undefined|\[object/);
});

t.test('every body in JSON has examples, under the same names as its successes', async (t) => {
  for (const { operationId, requestBody, responses } of operations) {
    const namesOf = (part?: Pick<DocumentedResponse, 'content'>) =>
      Object.keys(part?.content?.['application/json']?.examples ?? {});
    const successes = Object.values(responses).filter(
      ({ content }, index) => Number(Object.keys(responses)[index]) < 300 && content?.['application/json'],
    );
    if (!requestBody?.content['application/json']) continue;
    t.strictSame(namesOf(requestBody).toSorted(), successes.flatMap(namesOf).toSorted(), operationId);
  }
  const examples = operations
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content }) => Object.values(content?.['application/json']?.examples ?? {}));
  t.ok(examples.length >= 95);
  for (const { value } of examples) {
    const { data } = value as { data?: { next_cursor?: unknown } };
    // The paging loop of a client on a mock would not end.
    if (data && 'next_cursor' in data) t.equal(data.next_cursor, null);
  }
});

const dataOf = (events: string) =>
  [...events.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));

/** Every value of the examples with the name of its field and the object that has it. */
function* valuesIn(value: unknown): Generator<[string, unknown, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    yield [name, item, value as Record<string, unknown>];
    yield* valuesIn(item);
  }
}

t.test('examples are possible, and the same for the same user', async (t) => {
  const recorded = JSON.parse(readText('src/openapi/examples.json'));
  const { signUp: _, ...afterSignUp } = recorded;
  const users = [...valuesIn(afterSignUp)].filter(([name]) => name === 'is_verified');
  t.not(users.length, 0);
  const states = new Set(users.map(([, isVerified, { username }]) => `${username} ${isVerified}`));
  t.equal(states.size, new Set(users.map(([, , { username }]) => username)).size);
  const url = new URL(recorded.startProviderLogin.example.response.data.authorization_url);
  t.ok(url.searchParams.get('nonce') && url.searchParams.get('state'));
  t.equal(url.searchParams.get('code_challenge_method'), 'S256');
  t.equal(url.searchParams.get('code_challenge')?.length, 43);
  const { data } = recorded.updatePost.example.response;
  t.ok(data.updated_at > data.created_at);
  const kinds = [...valuesIn(recorded)].filter(([name]) => name === 'kind').map(([, kind]) => kind);
  t.ok(kinds.includes('saved_search_digest'));
  const events = dataOf(recorded.streamNotifications.example.response);
  t.equal(events.length, 2);
  const place = ['components', 'schemas', 'NotificationStreamData'];
  for (const event of events) t.strictSame(contract.schemaProblems(place, event), []);
});

t.test('names, types and descriptions suit generated clients', async (t) => {
  const names = Object.keys(schemas);
  const ids = operations.map(({ operationId: [first = '', ...rest] }) => first.toUpperCase() + rest.join(''));
  for (const name of names) {
    const [, operation = ''] =
      /^(.+?)(?:Requests?|Responses?|Data|Errors?|Body|Params|Result)$/.exec(name) ?? [];
    t.notOk(ids.includes(operation), `${name} is what generators derive from an operation`);
  }
  const problems = everySchema.flatMap(([place, schema]) =>
    schemaProblems(place, schema).map((problem) => `${place} ${problem}`),
  );
  t.strictSame(problems, []);
  t.match(schemas['PartnershipNotification']?.properties?.['id'], { format: 'int64' });
  t.notOk(operations.some(({ responses }) => Object.keys(responses).some((status) => /X/.test(status))));
});

function schemaProblems(place: string, schema: Schema): string[] {
  const { type, format, properties, description, anyOf = [] } = schema;
  const isItem = place.endsWith('[]');
  const isProperty = place.includes('.') && !isItem;
  const isEnvelope = /(?:Success|Failure)$/.test(place);
  const isDescribed =
    description || isEnvelope || schema.$ref || isItem || (type === 'null' && place.includes('.'));
  return [
    ...('uniqueItems' in schema ? ['has uniqueItems'] : []),
    ...(type !== 'integer' || /^int(?:32|64)$/.test(format ?? '') ? [] : ['has no size']),
    ...(isProperty && type === 'object' && properties ? ['is no component'] : []),
    ...(isDescribed ? [] : ['is not described']),
    ...(anyOf.every((form) => form.$ref || form.type === 'null') ? [] : ['has a form without a name']),
  ];
}

t.test('a code decides the schema of an error', async (t) => {
  const withoutDiscriminator = [
    'NotificationsToMark',
    'NotificationStreamData',
    'EmailConfirmation',
    'LoginOrConfirmation',
    'ConfirmationBody',
  ];
  for (const [name, { oneOf = [], discriminator }] of everySchema) {
    if (withoutDiscriminator.includes(name) || oneOf.length === 0) continue;
    const { propertyName = '', mapping = {} } = discriminator ?? {};
    t.strictSame(
      Object.entries(mapping),
      oneOf.flatMap(({ $ref = '' }) => {
        const property = schemas[nameOf({ $ref })]?.properties?.[propertyName];
        const { const: value, enum: values = [value] } = schemas[nameOf(property ?? {})] ?? property ?? {};
        return values.map((one) => [one, $ref]);
      }),
      name,
    );
  }
});

t.test('a response names the headers that others do not have', async (t) => {
  for (const { operationId, responses } of operations) {
    for (const [status, name] of Object.entries({
      303: 'Location',
      304: 'ETag',
      401: 'WWW-Authenticate',
      429: 'Retry-After',
    })) {
      const response = responses[status];
      if (response) t.ok(response.headers?.[name], `${operationId} ${status}: ${name}`);
    }
  }
  const file = operations.find(({ operationId }) => operationId === 'downloadOwnData')?.responses['200'];
  t.ok(file?.headers?.['Content-Disposition']);
  for (const name of ['X-Request-Id', 'Content-Language', 'RateLimit-Remaining', 'Accept-Language'])
    t.match(document.info.description, name, 'those of all');
});

t.test('the form of a provider is documented', async (t) => {
  const form = operations.find(({ operationId }) => operationId === 'receiveProviderForm');
  const { schema = {} } = form?.requestBody?.content['application/x-www-form-urlencoded'] ?? {};
  t.strictSame(Object.keys(schemas[nameOf(schema)]?.properties ?? {}), ['code', 'state', 'error', 'user']);
  t.match(form?.responses['415']?.description, 'must be application/x-www-form-urlencoded');
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

t.test('the committed document is served', async (t) => {
  // The library is that of the service: tap has it read and write times as any text.
  const { knownTags } = new YamlSchema({ resolveKnownTags: true });
  replace(t, Object(knownTags['tag:yaml.org,2002:timestamp']), { default: true });
  const app = await (await createTestApp()).startInstance();
  const yaml = await app.call('GET', '/openapi.yaml');
  t.match(yaml.headers['content-type'], 'application/yaml');
  t.equal(yaml.text, text);
  const json = await app.call('GET', '/openapi.json');
  t.match(json.headers['content-type'], 'application/json');
  t.strictSame(json.body, parse(yaml.text));
  t.strictSame(parse(yaml.text, { version: '1.1' }), json.body, 'also for readers of YAML 1.1');
});

t.test('the contract checker detects wrong responses', async (t) => {
  const app = await createTestApp();
  const path = '/auth/me/?a=1';
  const response = await app.call('GET', path);
  const rejects = (changes: object, problem: RegExp, at = path) =>
    t.throws(() => contract.check('GET', at, { ...response, ...changes }), problem);
  t.doesNotThrow(() => contract.check('GET', path, response));
  rejects({ status: 418 }, /418: \/data\/code/);
  rejects({ body: {} }, /required/, '/auth/nothing/');
  for (const wrong of [{ code: undefined }, { code: 'other' }, { secret: 1 }]) {
    const data = { ...response.body.data, ...wrong };
    rejects({ body: { ...response.body, data } }, /401: \/data/);
  }
  const withoutHeaders = { headers: { 'content-type': 'application/json' } };
  rejects(withoutHeaders, /X-Request-Id[\s\S]*Content-Language[\s\S]*WWW-Authenticate/);
});
