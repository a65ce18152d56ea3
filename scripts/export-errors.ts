import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { adminErrors } from '../src/domains/admin/schemas.ts';
import { authErrors } from '../src/domains/auth/errors.ts';
import { imageErrors } from '../src/domains/images/schemas.ts';
import { pushErrors } from '../src/domains/notifications/push/schemas.ts';
import { partnerRequestErrors } from '../src/domains/partner-requests/schemas.ts';
import { postErrors } from '../src/domains/posts/schemas.ts';
import { reportErrors } from '../src/domains/reports/schemas.ts';
import { savedSearchErrors } from '../src/domains/saved-searches/schemas.ts';
import { storeErrors } from '../src/domains/stores/schemas.ts';
import { type ErrorDefinition, httpErrors } from '../src/http/errors.ts';
import type { Language, LocalizedText } from '../src/http/language.ts';

// `npm run openapi` writes the table of codes into docs/client/errors.md and errors.ko.md, from the errors of the code and the
// operations of openapi.yaml; with `--check` it fails when a table is not what it would write. Other files may be named.

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  const?: string;
  enum?: string[];
}

interface ErrorResponse {
  $ref?: string;
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  operationId: string;
  security?: Record<string, unknown>[];
  responses: Record<string, ErrorResponse>;
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, ErrorResponse>; schemas: Record<string, Schema> };
}

type Definitions = [ErrorDefinition, ...ErrorDefinition[]];

const fileOf = (path: string) => fileURLToPath(import.meta.resolve(`#package/${path}`));
const document: OpenApiDocument = parse(readFileSync(fileOf('openapi.yaml'), 'utf8'));
const definitions: ErrorDefinition[] = [
  httpErrors,
  authErrors,
  storeErrors,
  postErrors,
  pushErrors,
  imageErrors,
  partnerRequestErrors,
  reportErrors,
  savedSearchErrors,
  adminErrors,
].flatMap((errors) => Object.values<ErrorDefinition>(errors));

/** The operations of the API, with their method; health checks have no envelope. */
const operations = Object.entries(document.paths)
  .filter(([path]) => /^\/(auth|api)\//.test(path))
  .flatMap(([, methods]) => Object.entries(methods))
  .map(([method, operation]) => ({ method, ...operation }));

/** What a reference refers to, and what refers to nothing as it is. */
function follow<Part extends { $ref?: string }>(part: Part | undefined, parts: Record<string, Part>) {
  const name = part?.$ref?.split('/').at(-1);
  return name === undefined ? part : parts[name];
}

/** The codes of the failures of an operation, those of `default` too. */
function codesOf({ responses }: Operation): string[] {
  const { schemas } = document.components;
  return Object.entries(responses).flatMap(([status, response]) => {
    if (status < '400') return [];
    const content = follow(response, document.components.responses)?.content;
    const data = follow(
      follow(content?.['application/json']?.schema, schemas)?.properties?.['data'],
      schemas,
    );
    return (data?.oneOf ?? [data]).flatMap((form) => {
      const code = follow(follow(form, schemas)?.properties?.['code'], schemas);
      return code?.enum ?? code?.const ?? [];
    });
  });
}

/** Groups of operations, by which the table is shorter than by all their names. */
const groups: { title: LocalizedText; ids: string[] }[] = [
  { title: { ko: '모든 작업', en: 'every operation' }, all: () => true },
  {
    title: { ko: '액세스 토큰을 받는 모든 작업', en: 'every operation that takes an access token' },
    all: isSecured,
  },
  {
    title: { ko: '액세스 토큰이 필요한 모든 작업', en: 'every operation that needs an access token' },
    all: (one: Operation) => isSecured(one) && one.security?.every((way) => 'bearer' in way),
  },
  {
    title: { ko: '모든 `POST`, `PATCH`, `DELETE`', en: 'every `POST`, `PATCH` and `DELETE`' },
    all: ({ method }: { method: string }) => method !== 'get',
  },
].map(({ title, all }) => ({ title, ids: operations.filter(all).map(({ operationId }) => operationId) }));

function isSecured({ security = [] }: Operation): boolean {
  return security.length > 0;
}

/** A request that fails with these has not reached an operation. */
const early = [httpErrors.methodNotAllowed, httpErrors.uriTooLong, httpErrors.headersTooLarge].map(
  ({ code }) => code,
);

/** The operations that fail with a code: by the group with the fewest exceptions and additions, or by their names. */
function whereOf(code: string, language: Language): string {
  const names = operations.filter((one) => codesOf(one).includes(code)).map(({ operationId }) => operationId);
  if (names.length === 0 || early.some((one) => one === code))
    return language === 'ko' ? '작업에 전달되기 전' : 'before a request reaches an operation';
  const list = (ids: string[]) => ids.map((id) => `\`${id}\``).join(', ');
  const ways = groups.map(({ title, ids }) => {
    const exceptions = ids.filter((id) => !names.includes(id));
    const additions = names.filter((id) => !ids.includes(id));
    const but = { ko: `(${list(exceptions)} 제외)`, en: ` but ${list(exceptions)}` }[language];
    const also = { ko: `, 그리고 ${list(additions)}`, en: `; also ${list(additions)}` }[language];
    const text = title[language] + (exceptions.length > 0 ? but : '') + (additions.length > 0 ? also : '');
    return { size: exceptions.length + additions.length + 1, text };
  });
  return [...ways, { size: names.length, text: list(names) }].reduce((best, way) =>
    way.size < best.size ? way : best,
  ).text;
}

/** One row for a code: definitions of the same code differ in their text only. */
function rowOf([first, ...others]: Definitions, language: Language): string {
  const fields = Object.keys(first.fields ?? {}).map((name) => `\`${name}\``);
  const texts = [...new Set([first, ...others].map(({ text }) => text[language]))];
  const cells = [
    first.status,
    `\`${first.code}\``,
    fields.join(', '),
    texts.join(' / '),
    whereOf(first.code, language),
  ];
  return `| ${cells.join(' | ')} |`;
}

const headers: LocalizedText = {
  ko: '| 상태 | 코드 | `data`의 다른 필드 | 문구 | 작업 |',
  en: '| status | code | more in `data` | text | where |',
};

function table(language: Language): string {
  const byCode = new Map<string, Definitions>();
  for (const definition of definitions) {
    const known = byCode.get(definition.code);
    if (known) known.push(definition);
    else byCode.set(definition.code, [definition]);
  }
  const unknown = operations.flatMap(codesOf).find((code) => !byCode.has(code));
  if (unknown !== undefined)
    throw new Error(`${unknown} is in openapi.yaml, but not in the list of this script`);
  const sorted = [...byCode.values()].sort(([one], [other]) => one.status - other.status);
  return [headers[language], '|---|---|---|---|---|', ...sorted.map((row) => rowOf(row, language))].join(
    '\n',
  );
}

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const paths =
  named.length > 0
    ? named
    : ['docs/client/errors.md', 'docs/client/errors.ko.md'].map((path) => fileOf(path));
const marked = /(<!-- codes: written by `npm run openapi` -->\n)[\s\S]*(<!-- end of codes -->)/;
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  if (!marked.test(text)) throw new Error(`${path} lacks the marks of the table`);
  const rows = table(path.endsWith('.ko.md') ? 'ko' : 'en');
  const fresh = text.replace(marked, (_all, begin: string, end: string) => `${begin}\n${rows}\n\n${end}`);
  if (!process.argv.includes('--check')) {
    writeFileSync(path, fresh);
  } else if (fresh !== text) {
    process.stderr.write(`${path} is stale: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}
