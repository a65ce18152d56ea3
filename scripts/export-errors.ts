import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { adminErrors } from '../src/domains/admin/schemas.ts';
import { authErrors } from '../src/domains/auth/errors.ts';
import { imageErrors } from '../src/domains/images/schemas.ts';
import { pushErrors } from '../src/domains/notifications/push/schemas.ts';
import { partnerRequestErrors } from '../src/domains/partner-requests/errors.ts';
import { postErrors } from '../src/domains/posts/errors.ts';
import { reportErrors } from '../src/domains/reports/schemas.ts';
import { savedSearchErrors } from '../src/domains/saved-searches/schemas.ts';
import { storeErrors } from '../src/domains/stores/errors.ts';
import { type ErrorDefinition, httpErrors } from '../src/http/errors.ts';

// `npm run openapi` writes the table of codes into docs/client/errors.md, from the errors of the code and the operations of
// openapi.yaml; with `--check` it fails when the table is not what it would write. Another file may be named.

interface ErrorResponse {
  $ref?: string;
  content?: Record<string, { examples?: Record<string, unknown> }>;
}

interface Operation {
  operationId: string;
  security?: Record<string, unknown>[];
  responses: Record<string, ErrorResponse>;
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { responses?: Record<string, ErrorResponse> };
}

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
  pushErrors,
  reportErrors,
  savedSearchErrors,
  adminErrors,
].flatMap((errors) => Object.values<ErrorDefinition>(errors));

/** The operations of the API, with their method; health checks have no envelope. */
const operations = Object.entries(document.paths)
  .filter(([path]) => /^\/(auth|api)\//.test(path))
  .flatMap(([, methods]) => Object.entries(methods))
  .map(([method, operation]) => ({ method, ...operation }));

/** Each failure of an operation has an example, whose name is its code. */
function codesOf({ responses }: Operation): string[] {
  return Object.entries(responses).flatMap(([status, response]) => {
    if (!/^[45]\d\d$/.test(status)) return [];
    const { content } = document.components.responses?.[response.$ref?.split('/').at(-1) ?? ''] ?? response;
    return Object.keys(content?.['application/json']?.examples ?? {});
  });
}

const idsOf = (some: typeof operations) => some.map(({ operationId }) => operationId);

/** Groups of operations, the largest first. */
const groups: [string, string[]][] = [
  ['every operation', idsOf(operations)],
  ['every operation that takes an access token', idsOf(operations.filter((one) => isSecured(one)))],
  [
    'every operation that needs an access token',
    idsOf(operations.filter((one) => isSecured(one) && one.security?.every((way) => 'bearer' in way))),
  ],
  ['every `POST`, `PATCH` and `DELETE`', idsOf(operations.filter(({ method }) => method !== 'get'))],
];

function isSecured({ security = [] }: Operation): boolean {
  return security.length > 0;
}

/** The operations that fail with a code: a group, where all of its members do, and those that are not in it. */
function whereOf(code: string): string {
  const names = idsOf(operations.filter((one) => codesOf(one).includes(code)));
  if (names.length === 0) return 'before a request reaches an operation';
  const [title, members = []] =
    groups.find(([, ids]) => ids.length > 0 && ids.every((id) => names.includes(id))) ?? [];
  const others = names.filter((name) => !members.includes(name)).map((name) => `\`${name}\``);
  return [...(title ? [title] : []), ...others].join(', ');
}

/** One row for a code: definitions of the same code differ in their text only. */
function rowOf([first, ...others]: [ErrorDefinition, ...ErrorDefinition[]]): string {
  const fields = Object.keys(first.fields ?? {}).map((name) => `\`${name}\``);
  const texts = [...new Set([first, ...others].flatMap(({ text }) => [text.en]))];
  return `| ${first.status} | \`${first.code}\` | ${fields.join(', ')} | ${texts.join(' / ')} | ${whereOf(first.code)} |`;
}

function table(): string {
  const byCode = new Map<string, [ErrorDefinition, ...ErrorDefinition[]]>();
  for (const definition of definitions) {
    const known = byCode.get(definition.code);
    if (known) known.push(definition);
    else byCode.set(definition.code, [definition]);
  }
  const unknown = operations.flatMap(codesOf).find((code) => !byCode.has(code));
  if (unknown !== undefined)
    throw new Error(`${unknown} is in openapi.yaml, but not in the list of this script`);
  const rows = [...byCode.values()].sort(([one], [other]) => one.status - other.status).map(rowOf);
  return ['| status | code | more in `data` | text | where |', '|---|---|---|---|---|', ...rows].join('\n');
}

const [other] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const path = other ?? fileOf('docs/client/errors.md');
const marked = /(<!-- codes: written by `npm run openapi` -->\n)[\s\S]*(<!-- end of codes -->)/;
const text = readFileSync(path, 'utf8');
if (!marked.test(text)) throw new Error(`${path} lacks the marks of the table`);
const fresh = text.replace(marked, (_all, begin: string, end: string) => `${begin}\n${table()}\n\n${end}`);
if (!process.argv.includes('--check')) {
  writeFileSync(path, fresh);
} else if (fresh !== text) {
  process.stderr.write(`${path} is stale: run \`npm run openapi\` and commit it\n`);
  process.exitCode = 1;
}
