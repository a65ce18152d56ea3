import type { Test } from 'tap';
import { createAdmin } from '../support/admin.ts';
import { createTestApp, password, type TestResponse } from '../support/app.ts';
import { fieldErrorProblems } from '../support/assertions.ts';
import { contract, type DocumentedOperation, type Schema } from '../support/contract.ts';
import { createPost, openShop } from '../support/stores.ts';

/** Every documented operation of the API, without the redirects of browsers. */
export const operations = contract.operations.filter(
  ({ path, responses }) => /^\/(?:auth|api)\//.test(path) && !('303' in responses),
);

/** Operations that take JSON. */
export const operationsWithBody = operations.filter(
  ({ requestBody }) => requestBody?.content['application/json'] !== undefined,
);

/** A schema without a reference. */
export interface Resolved extends Schema {
  /** Whether the value may be null instead. */
  isNullable?: boolean;
}

const unknownUuid = '00000000-0000-4000-8000-000000000000';
const email = 'unknown@example.com';
const proof = { verification_token: 'x'.repeat(22) };
const consents = { terms: '2026-01-31', privacy: '2026-01-31', marketing: false, is_14_or_older: true };
const wrongPassword = { password: 'not-the-password' };
const topics = {
  partner_request_received: true,
  partner_request_answered: true,
  partner_request_ended: true,
  saved_search_match: true,
};

/** Fields that no example of a body has. */
const otherFields = {
  ...proof,
  consents,
  closes_on: '2099-12-31',
  near: '37.556,126.91',
  q: '공동할인',
  radius_m: 1000,
  show_exact_location: false,
  status: 'open',
};

/**
 * Valid bodies, with every field, that name nothing that exists; for an operation that is not listed, what the examples of bodies
 * have. The first body is complete; later ones have the fields that exclude those of the first.
 */
const validBodies: Record<string, Record<string, unknown>[]> = {
  signUp: [{ username: 'somebody', password, name: '김두레', email, ...proof, consents }],
  deleteCurrentUser: [wrongPassword],
  changeEmail: [
    { ...wrongPassword, new_email: email, code: '123456' },
    { ...wrongPassword, new_email: email, ...proof },
  ],
  confirmUser: [wrongPassword, { code: '123456' }],
  changePassword: [{ current_password: 'not-the-password', new_password: 'bibimbap-for-two' }],
  // JSON has no file.
  uploadImage: [{}],
  createPartnerRequest: [{ post_id: 2_147_483_647, message: '함께해요' }],
  createPushSubscription: [
    {
      endpoint: 'https://fcm.googleapis.com/fcm/send/Zm9yIGV4YW1wbGUgb25seQ',
      expirationTime: null,
      keys: {
        p256dh: 'BFutHNSNZPMeUwMWt5CPVs3nWVC1vdqROKzsSD_WqIxZ_BqkF9QzCxtljpPfn1LTRMO5p9R8AxXMvMPvy-Y2qPI',
        auth: 'Zm9yIGV4YW1wbGUgb25seQ',
      },
    },
  ],
  updateMailPreferences: [
    { language: 'ko', email: topics, push: topics, quiet_hours: { from: '22:00', to: '08:00' } },
  ],
};

/** The complete valid body of an operation. */
export function validBody(operation: DocumentedOperation): Record<string, unknown> | undefined {
  return operation.requestBody && bodiesOf(operation)[0];
}

/** Valid bodies that together have every field. */
export function bodiesOf(operation: DocumentedOperation): Record<string, unknown>[] {
  const known = [...examplesOf(operation), ...operationsWithBody.flatMap(examplesOf), otherFields];
  const sampleOf = (name: string): unknown => {
    const body = known.find((one) => name in one);
    if (!body) throw new Error(`no example of ${name}`);
    return Object(body)[name];
  };
  return (
    validBodies[operation.operationId] ??
    bodySchemas(operation).map(({ properties = {} }) =>
      Object.fromEntries(Object.keys(properties).map((name) => [name, sampleOf(name)])),
    )
  );
}

/** The examples of the body of an operation. */
const examplesOf = ({ requestBody }: DocumentedOperation) =>
  Object.values(requestBody?.content['application/json']?.examples ?? {}).map(({ value }) => Object(value));

/** Follows a reference to its component. Of a value that may be null, the other type is taken. */
export function resolve(schema: Schema): Resolved {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return resolve(contract.document.components.schemas[name] ?? {});
  const other = schema.anyOf?.find(({ type }) => type !== 'null');
  if (other !== undefined) return { ...resolve(other), isNullable: true };
  const [type = '', orNull] = [schema.type].flat();
  return orNull === 'null' ? { ...schema, type, isNullable: true } : schema;
}

/** The object schemas of a body: one, or its alternatives. */
export function bodySchemas({ requestBody }: DocumentedOperation): Resolved[] {
  const schema = resolve(Object.values(requestBody?.content ?? {})[0]?.schema ?? {});
  return (schema.oneOf ?? [schema]).map(resolve);
}

/** Every field of an operation with its schema and a valid body that has it. */
export function fieldsOf(operation: DocumentedOperation) {
  const bodies = bodiesOf(operation);
  return bodySchemas(operation).flatMap((schema, index) => {
    const own = bodies[index] ?? {};
    const bodyWith = (name: string) => [own, ...bodies].find((body) => name in body) ?? own;
    return Object.entries(schema.properties ?? {}).map(([name, field]) => ({
      name,
      field,
      body: bodyWith(name),
    }));
  });
}

/** The path of an operation with an id, by default one that nothing has. */
export const unknownPath = ({ path }: DocumentedOperation, id = 2_147_483_647) =>
  path.replace('{session_id}', unknownUuid).replace(/\{\w+\}/, String(id));

/** Whether an operation responds with `not_authenticated` to a request without a token. */
export const requiresToken = ({ operationId, security = [] }: DocumentedOperation) =>
  security.length > 0 && security.every((one) => 'bearer' in one) && operationId !== 'logOut';

export interface OperationRequest {
  body?: unknown;
  query?: string;
  headers?: Record<string, string>;
  path?: string;
}

/** Builds an app with a user who has a store and a post, and an admin; sends requests of any operation to it. */
export async function createOperationsApp() {
  const app = await (await createTestApp()).startInstance();
  const shop = await openShop(app);
  const ownPost = await createPost(app, shop.token);
  const admin = await createAdmin(app);

  /** The token of a user who may call the operations of a path. */
  const tokenFor = (path: string) => (path.startsWith('/api/v1/admin/') ? admin.token : shop.token);

  /** Where a request of an operation goes: an own post, else ids that nothing has. */
  const pathOf = (operation: DocumentedOperation) =>
    unknownPath(operation, operation.operationId === 'updatePost' ? ownPost.id : undefined);

  /** Sends a request; with a token only where the operation requires one, so that the body decides. */
  function send(operation: DocumentedOperation, { body, query = '', headers, path }: OperationRequest = {}) {
    const token = requiresToken(operation) ? tokenFor(operation.path) : undefined;
    const options = { body, token, ...(headers ? { headers } : {}) };
    return app.call(operation.method, (path ?? pathOf(operation)) + query, options);
  }

  return { app, send, pathOf, tokenFor };
}

/**
 * Tests operations, each in a subtest of its own.
 *
 * @param least operations that there are, because a walk over nothing finds nothing wrong
 * @param problemsOf finds what is wrong with an operation
 */
export async function eachOperation(
  t: Test,
  list: DocumentedOperation[],
  least: number,
  problemsOf: (operation: DocumentedOperation) => Promise<string[]>,
): Promise<void> {
  for (const operation of list)
    await t.test(operation.operationId, async (t) => t.strictSame(await problemsOf(operation), []));
  t.ok(list.length >= least, `${list.length} of at least ${least} operations`);
}

/** Calls a function for each value, one after the other. @returns all that it found or threw, with the value in front */
export async function eachValue<Value>(
  values: readonly Value[],
  problemsOf: (value: Value) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  for (const value of values) {
    const problems = await problemsOf(value).catch((error: unknown) => [String(error)]);
    found.push(...problems.map((problem) => `${JSON.stringify(value)?.slice(0, 80)}: ${problem}`));
  }
  return found;
}

/** What cannot be a token has an error of its own: the document alone has a pattern and a length. */
export const isToken = (name: string) => /token$|^(?:refresh|uid)$/.test(name);

/** What keeps a response from being an error with a status and a code. */
export function notRejected({ status, body, text }: TestResponse, expected: number, code: string): string[] {
  return status === expected && body?.data?.code === code ? [] : [`is not ${expected} ${code}: ${text}`];
}

/** What keeps a response from being a `validation_error` that names exactly one field. */
export function notInvalid({ status, body, text }: TestResponse, field: string): string[] {
  const { code, fields = {} } = body?.data ?? {};
  const isInvalid = status === 400 && code === 'validation_error' && Object.keys(fields).join() === field;
  return [...(isInvalid ? [] : [`does not name ${field}: ${text}`]), ...fieldErrorProblems(body?.data)];
}
