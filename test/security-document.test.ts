import { access, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = import.meta.resolve('#package/package.json');
const fileOf = (path: string) => fileURLToPath(new URL(path, root));
const read = (path: string) => readFile(fileOf(path), 'utf8');

/** The cells of the rows of all tables in a Markdown text. */
const tableRows = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));

const model = await read('docs/security-model.md');
const testedPromises = tableRows(model).filter(([, tests = '']) => tests.startsWith('`test/'));

t.test('every promise of SECURITY.md is in the security model, in the same words', async (t) => {
  const promises = tableRows(await read('SECURITY.md')).slice(1);
  t.ok(promises.length > 30);
  const tested = new Set(testedPromises.map(([promise]) => promise));
  for (const [, promise = ''] of promises) t.ok(tested.has(promise), promise);
});

t.test('every test that the security model names exists under that title', async (t) => {
  for (const [promise, tests = '', failsWithout = ''] of testedPromises) {
    t.match(failsWithout, /\w/, `${promise}: what the tests fail without`);
    for (const named of tests.split(/; (?=`)/)) {
      const [, path = '', titles = ''] = /^`([^`]+)`: (".+")$/.exec(named) ?? [];
      const source = await read(path);
      for (const title of titles.slice(1, -1).split('", "'))
        t.ok(source.includes(`'${title}'`) || source.includes(`"${title}"`), `${path}: ${title}`);
    }
  }
});

t.test('every path that the security model names exists', async (t) => {
  const paths = [...model.matchAll(/`((?:src|test|scripts)\/[^`]*)`/g)].map(([, path = '']) => path);
  t.ok(paths.length > 100);
  for (const path of new Set(paths)) await t.resolves(access(fileOf(path)), path);
});
