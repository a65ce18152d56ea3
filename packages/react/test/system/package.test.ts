import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { root } from '../../../../test/support/files.ts';
import { installPacked, typeErrors } from '../../../client/test/system/packed.ts';
import { app, logIn } from './site.ts';

const { folder } = await installPacked(t);

t.test('the README begins with ten lines', async (t) => {
  const lines = app
    .trim()
    .split('\n')
    .filter((line) => !/^(import |$)/.test(line));
  t.equal(lines.length, 10);
  t.ok(lines.every(({ length }) => length <= 110));
});

t.test('its types work in strict apps', async (t) => {
  await writeFile(join(folder, 'app.tsx'), app);
  await writeFile(join(folder, 'log-in.tsx'), logIn);
  await copyFile(join(root, 'packages/react/test/system/consumer.ts'), join(folder, 'consumer.ts'));
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/react', '@tanstack']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const options = {
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    jsx: 'react-jsx',
    module: 'esnext',
    moduleResolution: 'bundler',
    exactOptionalPropertyTypes: true,
  };
  t.equal(await typeErrors(folder, ['app.tsx', 'log-in.tsx', 'consumer.ts'], options, '.'), '');
});
