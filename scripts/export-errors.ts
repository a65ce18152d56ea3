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

// `npm run openapi` writes the table of codes into docs/client/errors.md and errors.ko.md, from the errors of the source;
// with `--check` it fails when a table is not what it would write. Other files may be named.

interface OpenApiDocument {
  components: { schemas: Record<string, { properties?: { code?: { const?: string } } }> };
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
  reportErrors,
  savedSearchErrors,
  adminErrors,
].flatMap((errors) => Object.values<ErrorDefinition>(errors));

/** One row for each status. Some codes have more than one text: the first definition has all fields. */
function rows(): string {
  const byCode = new Map(definitions.toReversed().map((definition) => [definition.code, definition]));
  for (const [name, { properties }] of Object.entries(document.components.schemas)) {
    const code = name.endsWith('Error') ? properties?.code?.const : undefined;
    if (code !== undefined && !byCode.has(code))
      throw new Error(`${code} is in openapi.yaml, but not in the list of this script`);
  }
  const statuses = [...new Set(definitions.map(({ status }) => status))].sort((one, other) => one - other);
  const cells = statuses.map((status) => {
    const codes = [...byCode.values()].filter((definition) => definition.status === status);
    return [status, codes.toReversed().map(cellOf).join(', ')];
  });
  return cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** A code, with the fields of `data` that it has besides `detail` and `code`; that of each 429 is in the text of the page. */
function cellOf({ code, status, fields = {} }: ErrorDefinition): string {
  const names = Object.keys(fields).map((name) => `\`${name}\``);
  return `\`${code}\`${names.length > 0 && status !== 429 ? ` (${names.join(', ')})` : ''}`;
}

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const paths =
  named.length > 0
    ? named
    : ['docs/client/errors.md', 'docs/client/errors.ko.md'].map((path) => fileOf(path));
// Below the header, which each page has in its language.
const marked =
  /(<!-- codes: written by `npm run openapi` -->\n\n.*\n\|---\|---\|\n)[\s\S]*(\n\n<!-- end of codes -->)/;
for (const path of paths) {
  const text = readFileSync(path, 'utf8');
  if (!marked.test(text)) throw new Error(`${path} lacks the marks of the table`);
  const fresh = text.replace(marked, (_all, begin: string, end: string) => begin + rows() + end);
  if (!process.argv.includes('--check')) {
    writeFileSync(path, fresh);
  } else if (fresh !== text) {
    process.stderr.write(`${path} is stale: run \`npm run openapi\` and commit it\n`);
    process.exitCode = 1;
  }
}
