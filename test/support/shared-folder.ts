import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { commonFolder, isFirst, runFolder } from './files.ts';
import { until } from './until.ts';

/**
 * A folder whose content all processes of a run share, because it is expensive to make: the first one that asks for it fills it.
 *
 * @param fill must have ended all processes in the folder when it returns, because the folder is renamed then
 */
export async function sharedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const path = join(commonFolder(), name);
  if (existsSync(path)) return path;
  if (isFirst(`${path}.claimed`)) {
    const draft = runFolder();
    await fill(draft);
    renameSync(draft, path);
  }
  await until(`the shared folder ${name}`, () => existsSync(path));
  return path;
}
