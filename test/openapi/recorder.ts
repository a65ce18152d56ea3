import type { CallOptions, TestApp, TestResponse } from '../support/app.ts';
import { contract } from '../support/contract.ts';
import type { Json } from '../support/json.ts';

/** One call: what was sent as JSON, unless it failed, and the response. */
export interface Example {
  status: number;
  request?: Json;
  response: Json;
}

/** By operation, then by the name of the example. */
export type Examples = Record<string, Record<string, Example>>;

/**
 * Calls an operation and keeps the call as its example.
 *
 * @param options.code with which the call fails; by default it succeeds
 * @returns the response
 * @throws when it does something else
 */
export type Show = (
  method: string,
  path: string,
  options?: CallOptions & { name?: string; code?: string },
) => Promise<TestResponse>;

/**
 * Keeps calls as examples, in which what differs each time is fixed.
 *
 * @param examples to which they are added
 */
export function recorder({ call }: Pick<TestApp, 'call'>, examples: Examples): Show {
  return async (method, path, { code, name = code ?? 'example', ...options } = {}) => {
    const operation = contract.operationOf(method, path);
    if (operation === undefined)
      throw new Error(`openapi.yaml lacks ${method} ${path}: run npm run openapi first`);
    const { operationId } = operation;
    const response = await call(method, path, options);
    const { status, body } = response;
    const isExpected = code === undefined ? status < 300 : body?.data?.code === code;
    if (!isExpected) throw new Error(`${method} ${path}: ${response.text}`);
    const ofOperation = examples[operationId] ?? {};
    examples[operationId] = ofOperation;
    if (name in ofOperation) throw new Error(`${operationId} has two examples with the name ${name}`);
    const isSent = code === undefined && options.body !== undefined && !Buffer.isBuffer(options.body);
    const sent = isSent ? { request: options.body } : {};
    if (body !== null) ofOperation[name] = fix({ status, ...sent, response: body });
    return response;
  };
}

/** Keeps the first events of the stream as its example. */
export function keepEvents(examples: Examples, text: string): void {
  const events = text
    .replace(/(?<=^retry: )\d+/gm, '3000')
    .replace(/(?<=^data: ).*/gm, (data) => JSON.stringify(fix(JSON.parse(data))));
  examples['streamNotifications'] = { example: { status: 200, response: events } };
}

/** What is random, by the name of its field. */
const fixed: Record<string, unknown> = {
  recovery_codes: Array.from({ length: 10 }, (_, n) => `mfrg-gzdf-mztw-q2l${'abcdefghij'[n]}`),
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
};
const bytes =
  /^(?:attestationObject|authenticatorData|challenge|clientDataJSON|flow_token|link_token|second_factor_token|sign_up_token|signature|state|token|uid|userHandle|verification_token)$/;
const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ';
const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** A story takes less; the times that it shows are further apart. */
const step = 600_000;

/** @param ids the random ids of the example so far, which stay apart */
function fix(value: Json, ids: string[] = [], key = ''): Json {
  if (key in fixed) return fixed[key];
  if (Array.isArray(value)) return value.map((item) => fix(item, ids, key));
  if (typeof value === 'object' && value !== null) {
    const copy = Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, fix(item, ids, name)]),
    );
    // Rounding made the change as old as the creation.
    for (const later of ['updated_at', 'closed_at']) {
      const isChanged = value[later] > value.created_at && copy[later] <= copy['created_at'];
      if (isChanged) copy[later] = new Date(Date.parse(copy['created_at']) + step).toISOString();
    }
    return copy;
  }
  // Countdowns.
  if (typeof value === 'number') return /_(?:in|after)$/.test(key) ? Math.ceil(value / 60) * 60 : value;
  return typeof value === 'string' ? fixText(value, ids, key) : value;
}

function fixText(text: string, ids: string[], key: string): string {
  if (time.test(text)) {
    const difference = Math.round((Date.parse(text) - Date.now()) / step) * step;
    return new Date(Date.parse('2026-01-31T09:30:00Z') + difference).toISOString();
  }
  if (key === 'authorization_url') return fixAuthorizationUrl(text);
  if (/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return jwt;
  if (bytes.test(key) || (key === 'code' && text.startsWith('code-'))) {
    const [, id = '', random = ''] = /^([\da-f-]{36}(?:\.|$))?(.*)$/.exec(text) ?? [];
    // What an authenticator makes is long.
    const length = /[A-Z]|^signature$/.test(key) ? 43 : random.length;
    return fixIds(id, ids) + filling(length);
  }
  if (key === 'code') return text.replace(/^\d{6}$/, '042317');
  return fixIds(text, ids)
    .replace(/\/media\/[\da-f]{2}\/[\da-f]{30}/g, '/media/3f/1ab0e25b1f4e0e9a590d4a1b2c3d4e')
    .replace(/(?<=[?&]secret=)[A-Z2-7]+/, String(fixed['secret']));
}

const filling = (length: number) => 'Zm9yIGV4YW1wbGUgb25seS4u'.repeat(length).slice(0, length);

/** The URL of a fake provider as one of Kakao. */
function fixAuthorizationUrl(text: string): string {
  const parameters = new URL(text).searchParams;
  parameters.set('client_id', 'dure');
  for (const name of ['state', 'nonce', 'code_challenge'])
    parameters.set(name, filling(parameters.get(name)?.length ?? 0));
  return `https://kauth.kakao.com/oauth/authorize?${parameters}`;
}

function fixIds(text: string, ids: string[]): string {
  return text.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `0b2f4d5e-8f4a-4f0e-9d8c-1a2b3c4d5e${70 + ids.indexOf(id)}`;
  });
}
