import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const root = import.meta.resolve('#package/package.json');
const read = (path: string) => readFile(fileURLToPath(new URL(path, root)), 'utf8');

t.test('every test that SECURITY.md names is there, under that name', async (t) => {
  const rows = (await read('SECURITY.md')).split('\n').filter((line) => /^\|.*`test\//.test(line));
  t.ok(rows.length > 20);
  for (const row of rows) {
    const files = row.split(/(?=`test\/[\w./-]+\.test\.ts`)/).slice(1);
    t.ok(files.length > 0, row);
    t.match(row.split(' | ')[2], /\w/, 'it is said without what it fails');
    for (const file of files) {
      const [, path = ''] = /^`([^`]+)`/.exec(file) ?? [];
      const source = await read(path);
      const names = [...file.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
      for (const name of names) t.ok(source.includes(name), `${path}: ${name}`);
    }
  }
});
