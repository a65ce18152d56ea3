import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { internalKeywords } from '../http/text.ts';
import { type AnswerNotes, isObject, type JsonObject, notesKey, toPascalCase } from './operation.ts';

interface OpenApiDocument extends JsonObject {
  paths: Record<string, Record<string, Operation>>;
  components: Components;
}

type Components = Record<'schemas' | 'headers' | 'examples', Record<string, JsonObject>>;

interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, { schema: JsonObject }> };
  responses: Record<string, Answer>;
}

interface Parameter {
  example?: unknown;
  name: string;
  in: string;
  required?: boolean;
  schema: JsonObject;
}

interface Answer {
  content?: Record<string, { schema: JsonObject; examples?: Record<string, JsonObject> }>;
  headers?: Record<string, JsonObject>;
}

const headers = {
  RetryAfter: {
    description: 'Seconds until another try makes sense',
    schema: { type: 'integer', minimum: 1 },
    example: 30,
  },
  WWWAuthenticate: {
    description: 'The challenge; `error="invalid_token"` when a token was sent',
    schema: { type: 'string' },
    example: 'Bearer realm="api", error="invalid_token"',
  },
};

/** Headers that come with a status wherever it is answered. */
const statusHeaders: Record<string, Record<string, keyof typeof headers>> = {
  401: { 'WWW-Authenticate': 'WWWAuthenticate' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
};

/** Builds the document of an application that is ready. */
export function openApiDocument(app: FastifyInstance): JsonObject {
  const document = stripInternal(app.swagger()) as OpenApiDocument;
  const components = { ...document.components, headers, examples: {} };
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) describeParameter(parameter);
    describeBody(components, operation);
    for (const [status, answer] of Object.entries(operation.responses)) {
      describeAnswer(components, operation, status, answer);
    }
  }
  return { ...document, components };
}

/** A parameter with a default is optional, although its validated value always exists. */
function describeParameter(parameter: Parameter): void {
  if ('default' in parameter.schema) parameter.required = false;
  if (parameter.in === 'header') {
    parameter.name = parameter.name.replace(/\bid\b|\b[a-z]/g, (a) => a.toUpperCase());
  }
  // Swagger UI fills in examples, and an optional filter would narrow the first try.
  if (!parameter.required) {
    delete parameter.example;
    delete parameter.schema.examples;
  }
}

/** A body that may be empty is optional. */
function describeBody(components: Components, { requestBody }: Operation): void {
  const schema = requestBody?.content['application/json']?.schema;
  if (!requestBody || !schema) return;
  const name = String(schema['$ref']).split('/').at(-1) ?? '';
  const body = components.schemas[name] ?? schema;
  // One of several forms is never empty.
  requestBody.required = ['required', 'minProperties', 'oneOf'].some((keyword) => keyword in body);
}

function describeAnswer(components: Components, operation: Operation, status: string, answer: Answer): void {
  const media = answer.content?.['application/json'];
  if (media && !('$ref' in media.schema)) {
    const { [notesKey]: notes = {}, ...schema } = media.schema;
    const { name, examples = {} } = notes as AnswerNotes;
    const prefix = toPascalCase(operation.operationId);
    media.schema = place(components, 'schemas', name ?? answerName(prefix, status), schema);
    for (const [code, value] of Object.entries(examples)) {
      media.examples = { ...media.examples, [code]: placeExample(components, prefix, code, value) };
    }
  }
  for (const [header, name] of Object.entries(statusHeaders[status] ?? {})) {
    answer.headers = { ...answer.headers, [header]: { $ref: `#/components/headers/${name}` } };
  }
}

/** As `LogInResponse`, `LogInTooManyRequestsFailure`. */
function answerName(operation: string, status: string): string {
  if (Number(status) < 400) return `${operation}Response`;
  return `${operation}${STATUS_CODES[status]?.replace(/\W/g, '')}Failure`;
}

/** Operations with the same text for a code share the example; one with another text has its own. */
function placeExample(
  components: Components,
  operation: string,
  code: string,
  value: JsonObject,
): JsonObject {
  const name = toPascalCase(code);
  const known = components.examples[name];
  const own = known !== undefined && !isDeepStrictEqual(known['value'], value);
  return place(components, 'examples', own ? `${operation}${name}` : name, { value });
}

/** Moves a part to the components, so that generated clients have a name for it. */
function place(components: Components, kind: keyof Components, name: string, part: JsonObject): JsonObject {
  const known = components[kind][name];
  if (known !== undefined && !isDeepStrictEqual(known, part))
    throw new Error(`two different ${kind} would be named ${name}`);
  components[kind][name] = part;
  return { $ref: `#/components/${kind}/${name}` };
}

/** Removes keywords that only the validator understands. */
function stripInternal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripInternal);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !internalKeywords.includes(key) && key !== '$id');
  return Object.fromEntries(kept.map(([key, item]) => [key, stripInternal(item)]));
}
