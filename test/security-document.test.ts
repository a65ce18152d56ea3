import { access, readFile } from 'node:fs/promises';
import t from 'tap';

const root = import.meta.resolve('#package/package.json');

t.test('every promise names tests that exist', async (t) => {
  const promises = await readFile(new URL('docs/security/promises.md', root), 'utf8');
  const rows = promises.split('\n').filter((line) => /^\| (?!promise \|)/.test(line));
  t.ok(rows.length > 80);
  for (const row of rows) {
    const [promise = '', files = ''] = row.slice(2, -2).split(' | ');
    for (const file of files.split(', ')) {
      const path = /^(packages|examples)\//.test(file) ? file : `test/${file}`;
      await t.resolves(access(new URL(`${path}.test.ts`, root)), `${promise}: ${file}`);
    }
  }
});
