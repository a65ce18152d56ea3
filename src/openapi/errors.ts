import { STATUS_CODES } from 'node:http';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';
import { Message, NamedEnum } from '../http/schemas.ts';
import {
  type Components,
  type JsonObject,
  type Reference,
  toJsonSchema,
  toPascalCase,
} from './components.ts';
import { type HeaderName, headerReferences } from './headers.ts';

/** Headers that come with a status, whatever the operation. */
const statusHeaders: Record<number, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/**
 * The response of an operation with a status, as a component: operations with the same errors share it.
 *
 * @param operation in PascalCase
 * @param errors all of one status
 * @param headers that every response of the operation has
 */
export function errorResponse(
  components: Components,
  operation: string,
  errors: readonly ErrorDefinition[],
  headers: readonly HeaderName[],
): Reference {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  const definitions = [...byCode.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  const { status = 500 } = definitions[0] ?? {};
  const codes = definitions.map(({ code }) => toPascalCase(code));
  // More than two codes would make an unreadable name, so it has that of the operation.
  const name =
    codes.length <= 2 ? codes.join('Or') : `${operation}${STATUS_CODES[status]?.replace(/\W/g, '')}`;
  const examples = definitions.map((error): [string, Reference] => [
    error.code,
    components.addShared('examples', toPascalCase(error.code), operation, {
      value: exampleOf(components, error),
    }),
  ]);
  // The one that developers meet first; mocks respond with the first example.
  examples.sort(
    ([one], [other]) => Number(other === 'validation_error') - Number(one === 'validation_error'),
  );
  return components.addShared('responses', name, operation, {
    description: definitions.map(({ code, text }) => `\`${code}\`: ${text.en}`).join('\n\n'),
    headers: headerReferences([...headers, ...(statusHeaders[status] ?? [])]),
    content: {
      'application/json': {
        schema: components.add('schemas', `${name}Failure`, envelope(addData(components, name, definitions))),
        examples: Object.fromEntries(examples),
      },
    },
  });
}

/** Any error at all: what a client that knows no operation can rely on. */
export function anyErrorResponse(components: Components, definitions: readonly ErrorDefinition[]) {
  const texts = new Map<string, string>();
  for (const { code, text } of [...definitions, ...Object.values(httpErrors)]) {
    texts.set(code, addText(texts.get(code), text.en));
  }
  const { $id, ...codes } = NamedEnum(
    'ErrorCode',
    'Every code of an error, for programs; a code never changes its meaning, new ones may come',
    Object.fromEntries([...texts].sort()),
  );
  const data = components.add('schemas', 'AnyError', {
    description: 'What every error has in its `data`',
    type: 'object',
    required: ['detail', 'code'],
    properties: {
      detail: detailOf(httpErrors.validationError.text.ko),
      code: components.add('schemas', String($id), codes),
    },
  });
  return {
    description: 'Any other error, before the request reaches the operation',
    headers: headerReferences(['X-Request-Id', 'Allow']),
    content: {
      'application/json': {
        schema: components.add('schemas', 'AnyFailure', envelope(data)),
        examples: {
          method_not_allowed: components.add('examples', 'MethodNotAllowed', {
            value: exampleOf(components, httpErrors.methodNotAllowed),
          }),
        },
      },
    },
  };
}

/** The texts of one code; its definitions differ in nothing else. */
function addText(texts: string | undefined, text: string): string {
  if (texts === undefined) return text;
  return texts.includes(text) ? texts : `${texts} / ${text}`;
}

const detailOf = (text: string) => toJsonSchema(Message('The same text as `message`', text));

/** `TokenNotValid` becomes `TokenNotValidError`, `ValidationError` stays. */
function errorName(name: string): string {
  return name.endsWith('Error') ? name : `${name}Error`;
}

/** Adds a schema for each code, and for several codes one that is any of them. */
function addData(components: Components, name: string, definitions: readonly ErrorDefinition[]): Reference {
  const forms = definitions.map(({ code, text, fields = {} }) => {
    const own = errorName(toPascalCase(code));
    const known = components.parts.schemas[own];
    if (known) known['description'] = addText(String(known['description']), text.en);
    const schema = known ?? {
      description: text.en,
      type: 'object',
      required: ['detail', 'code', ...Object.keys(fields)],
      properties: {
        detail: detailOf(text.ko),
        code: { description: 'For programs; never changes', type: 'string', const: code },
        ...referencing(fields),
      },
    };
    return components.add('schemas', own, schema as JsonObject);
  });
  const [only] = forms;
  if (only && forms.length === 1) return only;
  return components.add('schemas', errorName(name), { description: 'One of these errors', oneOf: forms });
}

function envelope(data: Reference): JsonObject {
  return {
    description: 'An error',
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: {
      success: { description: 'Always `false`', type: 'boolean', const: false },
      message: {
        description: 'For people, in the language of the response',
        type: 'string',
        maxLength: 1000,
      },
      data,
    },
  };
}

function exampleOf(components: Components, { code, text, fields = {} }: ErrorDefinition): JsonObject {
  const values = components.exampleOf({ properties: referencing(fields) }) as JsonObject;
  return { success: false, message: text.ko, data: { detail: text.ko, code, ...values } };
}

/** References by `$id` as references to components. */
function referencing(fields: NonNullable<ErrorDefinition['fields']>): Record<string, JsonObject> {
  return JSON.parse(JSON.stringify(toJsonSchema(fields)), (key, value) =>
    key === '$ref' ? `#/components/schemas/${String(value).replace('#', '')}` : value,
  );
}
