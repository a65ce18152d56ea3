import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// `npm run translations` copies the code of each page with a Korean version (`name.ko.md` beside `name.md`) into that version;
// comments and the labels of diagrams stay in Korean. With `--check` it fails where it would change one, and where the sections
// of the two have other levels, other names in code or other links. Other Korean versions may be named.

const root = dirname(fileURLToPath(import.meta.resolve('#package/package.json')));
const fence = /^( *)```(\w*)\n[\s\S]*?^\1```$/gm;

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '--', '*.ko.md'];
const tracked = () => execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n');
for (const path of named.length > 0 ? named : tracked()) {
  const file = join(root, path);
  const source = readFileSync(file.replace(/\.ko\.md$/, '.md'), 'utf8');
  const text = readFileSync(file, 'utf8');
  const fresh = withCodeOf(source, text);
  const problems = differences(source, text, dirname(file));
  if (fresh !== text) {
    if (process.argv.includes('--check')) problems.push('other code: run `npm run translations`');
    else writeFileSync(file, fresh);
  }
  for (const problem of problems) process.stderr.write(`${path}: ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

/** The translation with the code of the source, wherever they differ in more than what is for people. */
function withCodeOf(source: string, translation: string): string {
  const blocks = source.match(fence) ?? [];
  let index = 0;
  return translation.replace(fence, (own) => {
    const block = blocks[index++] ?? own;
    return withoutWords(block) === withoutWords(own) ? own : block;
  });
}

function withoutWords(block: string): string {
  const words = block.includes('```mermaid') ? /(: | as | alt | else ).*$/gm : /(^|\s+)(\/\/|#|\/\*\*) .*$/gm;
  return block.replace(words, '');
}

function differences(source: string, translation: string, folder: string): string[] {
  const count = (text: string) => text.match(fence)?.length ?? 0;
  const [sections, own] = [sectionsOf(source), sectionsOf(translation)];
  const levels = (some: Section[]) => some.map(({ level }) => level).join();
  if (count(source) !== count(translation)) return ['another number of code blocks'];
  if (levels(sections) !== levels(own))
    return [`headings of the levels ${levels(own)}, not ${levels(sections)}`];
  return own.flatMap(({ title, names, links }, index) => {
    const { names: wanted = [], links: targets = [] } = sections[index] ?? {};
    const english = links.filter(
      (link) => /(?<!\.ko)\.md$/.test(link) && existsSync(join(folder, link.replace(/\.md$/, '.ko.md'))),
    );
    return [
      ...without(wanted, names).map((name) => `${title}: lacks ${name}`),
      ...without(names, wanted).map((name) => `${title}: has ${name}, which the source has not`),
      ...without(targets.map(withoutLanguage), links.map(withoutLanguage)).map(
        (link) => `${title}: lacks the link to ${link}`,
      ),
      // Above the first section is the link to the source.
      ...(index === 0 ? [] : english).map((link) => `${title}: ${link} is there in Korean`),
    ];
  });
}

interface Section {
  title: string;
  level: number;
  names: string[];
  links: string[];
}

/** The first one is what stands below the title of the page. */
function sectionsOf(text: string): Section[] {
  const parts = text.replace(fence, '').split(/^(?=#+ )/m);
  return parts.map((part) => ({
    title: part.split('\n')[0] ?? '',
    level: /^#*/.exec(part)?.[0].length ?? 0,
    names: [...part.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    links: [...part.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target),
  }));
}

function withoutLanguage(link: string): string {
  return link.replace(/\.ko\.md$/, '.md');
}

function without(some: string[], others: string[]): string[] {
  return [...new Set(some)].filter((one) => !others.includes(one));
}
