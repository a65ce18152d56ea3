import type { CallOptions, TestApp, TestResponse } from '../support/app.ts';
import { contract } from '../support/contract.ts';
import type { Json } from '../support/json.ts';

/** One successful call: what was sent as JSON, and the response. */
export interface Example {
  status: number;
  request?: Json;
  response: Json;
}

/** By operation, then by the name of the example. */
export type Examples = Record<string, Record<string, Example>>;

/** Calls an operation and keeps the call as its example. @returns the response @throws when it does not succeed */
export type Show = (
  method: string,
  path: string,
  options?: CallOptions & { name?: string },
) => Promise<TestResponse>;

/**
 * Keeps calls as examples, in which what differs each time is fixed.
 *
 * @param examples to which they are added
 */
export function recorder({ call }: Pick<TestApp, 'call'>, examples: Examples): Show {
  return async (method, path, { name = 'example', ...options } = {}) => {
    const response = await call(method, path, options);
    const { status, body } = response;
    if (status >= 300) throw new Error(`${method} ${path}: ${response.text}`);
    const { operationId = '' } = contract.operationOf(method, path) ?? {};
    const ofOperation = examples[operationId] ?? {};
    examples[operationId] = ofOperation;
    if (name in ofOperation) throw new Error(`${operationId} has two examples with the name ${name}`);
    const sent = Buffer.isBuffer(options.body) || options.body === undefined ? {} : { request: options.body };
    if (body !== null) ofOperation[name] = fix({ status, ...sent, response: body });
    return response;
  };
}

/** What is random or depends on the time, by the name of its field. */
const fixed: Record<string, unknown> = {
  authorization_url:
    'https://kauth.kakao.com/oauth/authorize?client_id=dure&redirect_uri=https%3A%2F%2Fapi.example.com%2Fauth%2Fproviders%2Fkakao%2Fcallback%2F&response_type=code&scope=openid+account_email&state=Zm9yIGV4YW1wbGUgb25seS4',
  recovery_codes: Array.from({ length: 10 }, (_, n) => `mfrg-gzdf-mztw-q2l${'abcdefghij'[n]}`),
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
};
const bytes =
  /^(?:attestationObject|authenticatorData|challenge|clientDataJSON|flow_token|kid|link_token|public_?key|second_factor_token|sign_up_token|signature|state|token|uid|userHandle|verification_token|x|y)$/i;
const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.Zm9yIGV4YW1wbGUgb25seQ';
const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** A story takes less; the times that it shows are further apart. */
const step = 600_000;

/** @param ids the random ids of the example so far, which stay apart */
function fix(value: Json, ids: string[] = [], key = ''): Json {
  if (key in fixed) return fixed[key];
  if (Array.isArray(value)) return value.map((item) => fix(item, ids, key));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fix(item, ids, name)]));
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
  if (/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return jwt;
  if (bytes.test(key) || (key === 'code' && text.startsWith('code-'))) {
    const [, id = '', random = ''] = /^([\da-f-]{36}(?:\.|$))?(.*)$/.exec(text) ?? [];
    // What an authenticator makes is long.
    const length = /[A-Z]|^signature$/.test(key) ? 43 : random.length;
    return fixIds(id, ids) + 'Zm9yIGV4YW1wbGUgb25seS4u'.repeat(length).slice(0, length);
  }
  if (key === 'code') return text.replace(/^\d{6}$/, '042317');
  return fixIds(text, ids)
    .replace(/\/media\/[\da-f]{2}\/[\da-f]{30}/g, '/media/3f/1ab0e25b1f4e0e9a590d4a1b2c3d4e')
    .replace(/(?<=[?&]secret=)[A-Z2-7]+/, String(fixed['secret']));
}

function fixIds(text: string, ids: string[]): string {
  return text.replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => {
    if (!ids.includes(id)) ids.push(id);
    return `0b2f4d5e-8f4a-4f0e-9d8c-1a2b3c4d5e${70 + ids.indexOf(id)}`;
  });
}
