import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Ajv2020, type Format, type ValidateFunction } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { TestResponse } from './app.ts';
import { root } from './files.ts';

/** The committed OpenAPI document. */
export const documentPath = join(root, 'openapi.yaml');

/** The keywords of a JSON Schema that the tests read. */
export interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minProperties?: number;
  oneOf?: Schema[];
  anyOf?: Schema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
  const?: string;
  enum?: string[];
  default?: unknown;
  examples?: unknown[];
}

interface DocumentedMedia {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

export interface DocumentedResponse {
  description: string;
  content?: Record<string, DocumentedMedia>;
  headers?: Record<string, { $ref?: string }>;
}

export interface DocumentedParameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

/** An operation of the document with its method and path. */
export interface DocumentedOperation {
  method: string;
  path: string;
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: DocumentedParameter[];
  requestBody?: { required?: boolean; content: Record<string, DocumentedMedia> };
  responses: Record<string, DocumentedResponse>;
}

interface OpenApiDocument {
  openapi: string;
  info: { description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Omit<DocumentedOperation, 'method' | 'path'>>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { required?: boolean; example?: unknown }>;
    parameters: Record<string, DocumentedParameter>;
    responses: Record<string, DocumentedResponse>;
  };
}

const formats: Record<string, Format> = {
  int32: { type: 'number', validate: (value: number) => Math.abs(value) < 2 ** 31 },
  int64: { type: 'number', validate: Number.isSafeInteger },
  password: true,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
};

/** What every error has, also those of paths that the document does not have. */
const anyFailure = {
  type: 'object',
  required: ['success', 'message', 'data'],
  properties: {
    success: { const: false },
    message: { type: 'string' },
    data: {
      type: 'object',
      required: ['detail', 'code'],
      properties: { detail: { type: 'string' }, code: { type: 'string' } },
    },
  },
};

/** Every operation, status and code that a call of this process got, as `logIn 401 invalid_credentials` or `logIn 200 ok`. */
const seen = new Set<string>();

/** Each process of the tests writes here what it saw, when it ends. */
const folder = process.env['DURE_TEST_SEEN'];
if (folder !== undefined) {
  process.on('exit', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.pid}.txt`), [...seen].join('\n'));
  });
}

/** The content of the document. It is kept as JSON, because to parse the YAML takes a second of CPU, in each process. */
function parseDocument(): OpenApiDocument {
  const path = join(root, 'build/openapi.json');
  const modifiedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (modifiedAt(path) > modifiedAt(documentPath)) return JSON.parse(readFileSync(path, 'utf8'));
  const document: OpenApiDocument = parse(readFileSync(documentPath, 'utf8'));
  // Other processes read and write it at the same time.
  const complete = `${path}-${process.pid}`;
  writeFileSync(complete, JSON.stringify(document));
  renameSync(complete, path);
  return document;
}

/** The committed document. Parameters and responses of operations stand in place of the references to them. */
function readDocument(): OpenApiDocument {
  const document = parseDocument();
  const { parameters, responses } = document.components;
  function follow<Part>(part: Part | { $ref: string }, parts: Record<string, Part>): Part {
    const isReference = typeof part === 'object' && part !== null && '$ref' in part;
    const target = isReference ? parts[part.$ref.split('/').at(-1) ?? ''] : part;
    if (target === undefined) throw new Error(`nothing is at ${JSON.stringify(part)}`);
    return target;
  }
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    operation.parameters = (operation.parameters ?? []).map((one) => follow(one, parameters));
    for (const [status, response] of Object.entries(operation.responses))
      operation.responses[status] = follow(response, responses);
  }
  return document;
}

/** Operations whose descriptions say that a client which prefers pages gets one, whatever the status. */
const withPages = /^(?:showUnsubscribePage|unsubscribe)$/;

const mediaTypeOf = ({ headers }: TestResponse) => String(headers['content-type']).split(';')[0] ?? '';

function createContract() {
  const document = readDocument();
  // Most schemas validate a few values, so that optimizing the code costs more than it saves.
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats, code: { optimize: false } });
  const { schemas, headers } = document.components;
  const components = { schemas: { ...closed(schemas), AnyFailure: anyFailure }, headers };
  ajv.addSchema({ components }, 'document', undefined, false);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
  const routes = operations
    .map((operation) => ({ operation, pattern: pattern(operation.path) }))
    .sort((one, other) => one.operation.path.split('{').length - other.operation.path.split('{').length);

  /** The operation of a request, at the path to which the client resolves the URL; the last slash is optional. */
  function operationOf(method: string, url: string): DocumentedOperation | undefined {
    const path = withoutSlash(new URL(`http://localhost${url}`).pathname);
    return routes.find((route) => route.operation.method === method && route.pattern.test(path))?.operation;
  }

  /**
   * Records a response, and compares it with the document. Of other paths than those of the document, only errors of the API are
   * compared, with what all errors have.
   *
   * @throws when it differs
   */
  function check(method: string, url: string, response: TestResponse): void {
    const { status, body } = response;
    const operation = operationOf(method, url);
    const code = status < 400 ? 'ok' : (body?.data?.code ?? 'ok');
    if (operation) seen.add(`${operation.operationId} ${status} ${code}`);
    const isOtherError = /^\/(?:auth|api)\//.test(url) && method !== 'HEAD' && status >= 400;
    const other = isOtherError ? schemaProblems(['components', 'schemas', 'AnyFailure'], body) : [];
    const found = operation ? problems(operation, response) : other;
    if (found.length > 0) throw new Error([`${method} ${url}`, ...found, response.text].join('\n'));
  }

  /** How a response differs from the document; empty when it conforms. */
  function problems(operation: DocumentedOperation, response: TestResponse): string[] {
    const status = String(response.status);
    const key = [status, 'default'].find((one) => one in operation.responses);
    const documented = key === undefined ? undefined : operation.responses[key];
    if (key === undefined || !documented)
      return [`${operation.operationId} has no ${status}: ${response.text}`];
    const isPage = withPages.test(operation.operationId) && mediaTypeOf(response) === 'text/html';
    const ofBody = isPage ? [] : bodyProblems(documented, response);
    return [...headerProblems(documented, response), ...ofBody].map(
      (problem) => `${operation.operationId} ${status}: ${problem}`,
    );
  }

  function headerProblems({ headers = {} }: DocumentedResponse, response: TestResponse): string[] {
    const missing = Object.entries(headers)
      .filter(([, { $ref }]) => document.components.headers[String($ref).split('/').at(-1) ?? '']?.required)
      .map(([name]) => name)
      .filter((name) => response.headers[name.toLowerCase()] === undefined);
    // Every response has them, so that the document describes them once.
    const always = [
      'X-Request-Id',
      ...(Object(response.body)?.success === undefined ? [] : ['Content-Language']),
    ];
    const absent = always.filter((name) => response.headers[name.toLowerCase()] === undefined);
    const isOther = response.headers['set-cookie'] !== undefined && !('Set-Cookie' in headers);
    return [
      ...[...absent, ...missing].map((name) => `has no ${name}`),
      ...(isOther ? ['has a Set-Cookie that is not documented'] : []),
    ];
  }

  function bodyProblems({ content }: DocumentedResponse, response: TestResponse): string[] {
    const { body, text } = response;
    if (!content) return text === '' ? [] : [`has a body: ${text}`];
    const type = mediaTypeOf(response);
    const media = content[type];
    if (!media) return [`is ${type}`];
    if (type !== 'application/json') return [];
    const { $ref } = media.schema;
    return $ref === undefined
      ? ['has a schema without a name']
      : schemaProblems($ref.split('/').slice(1), body);
  }

  /** How a value differs from the schema at a place in the document. */
  function schemaProblems(place: string[], value: unknown): string[] {
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
    const validate: ValidateFunction | undefined = ajv.getSchema(`document#/${pointer}`);
    if (!validate) return [`there is no schema at ${pointer}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** The codes with which an operation can fail with a status. */
  function codesOf({ responses }: DocumentedOperation, status: string): string[] {
    const find = (schema: Schema = {}): Schema => {
      const name = schema.$ref?.split('/').at(-1);
      return name === undefined ? schema : find(schemas[name]);
    };
    const failure = find(responses[status]?.content?.['application/json']?.schema);
    const data = find(failure.properties?.['data']);
    return (data.oneOf ?? [data]).flatMap((form) => {
      const { const: code, enum: codes = code === undefined ? [] : [code] } = find(
        find(form).properties?.['code'],
      );
      return codes;
    });
  }

  return { document, operations, operationOf, check, schemaProblems, codesOf };
}

/**
 * Compares responses with the OpenAPI document. It is stricter than the document: undocumented properties are rejected. All tests of
 * a process have this one, whose schemas are compiled when they are first needed.
 */
export const contract = createContract();

function pattern(path: string): RegExp {
  const escaped = withoutSlash(path).replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Forbids undocumented properties in every object schema with properties. */
function closed<T>(value: T): T;
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, closed(item)]));
  const names = 'type' in copy && copy.type === 'object' && 'properties' in copy;
  return names && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}
