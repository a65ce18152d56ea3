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

// `npm run openapi` writes the table of codes into docs/client/errors.md and errors.ko.md, from the errors of the code; with
// `--check` it fails when a table is not what it would write. Other files may be named.

interface OpenApiDocument {
  components: { schemas: Record<string, { properties?: { code?: { const?: string } } }> };
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

/** One row for a code: definitions of the same code differ in their text only. */
function rowOf([first, ...others]: Definitions, language: Language): string {
  const fields = Object.keys(first.fields ?? {}).map((name) => `\`${name}\``);
  const texts = [...new Set([first, ...others].map(({ text }) => text[language]))];
  const cells = [first.status, `\`${first.code}\``, fields.join(', '), texts.join(' / ')];
  return `| ${cells.join(' | ')} |`;
}

const headers: LocalizedText = {
  ko: '| 상태 | 코드 | `data`의 다른 필드 | 문구 |',
  en: '| status | code | more in `data` | text |',
};

function table(language: Language): string {
  const byCode = new Map<string, Definitions>();
  for (const definition of definitions) {
    const known = byCode.get(definition.code);
    if (known) known.push(definition);
    else byCode.set(definition.code, [definition]);
  }
  for (const [name, { properties }] of Object.entries(document.components.schemas)) {
    const code = name.endsWith('Error') ? properties?.code?.const : undefined;
    if (code !== undefined && !byCode.has(code))
      throw new Error(`${code} is in openapi.yaml, but not in the list of this script`);
  }
  const sorted = [...byCode.values()].sort(([one], [other]) => one.status - other.status);
  return [headers[language], '|---|---|---|---|', ...sorted.map((row) => rowOf(row, language))].join('\n');
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
