import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The system tier: tests with real processes, outages, raw sockets, Redis or PgBouncer, with the load of production,
 * with process-wide state, or with the longest walks over all operations. Each file has a process of its own.
 */
const systemFolder = 'test/system/';

interface Selection {
  /** One process per file. */
  systemFiles: string[];
  /** The fast tier: one process per group of files. */
  groups: string[][];
  tapArguments: string[];
}

/** Two rounds of groups for two cores: every process costs a start, and unequal groups leave a core idle at the end. */
const maxGroups = 4;

/**
 * Reads the arguments of `npm test`: files and folders below test/ select files, `--system` the system tier, nothing the fast
 * tier; everything else is for tap.
 *
 * @param root folder of the repository
 * @throws when an argument matches no test file
 */
export async function selectTests(root: string, args: string[]): Promise<Selection> {
  const entries = await readdir(join(root, 'test'), { recursive: true });
  const files = entries
    .map((entry) => join('test', entry))
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .sort();
  const isSystem = args.includes('--system');
  const paths = args.filter((arg) => arg.startsWith('test/'));
  for (const path of paths) {
    if (!files.some((file) => matches(file, path))) throw new Error(`${path} matches no test file`);
  }
  const selected = files.filter((file) => paths.length === 0 || paths.some((path) => matches(file, path)));
  const systemFiles = selected.filter((file) => file.startsWith(systemFolder));
  const fastFiles = selected.filter((file) => !systemFiles.includes(file));
  return {
    systemFiles: isSystem || paths.length > 0 ? systemFiles : [],
    groups: isSystem ? [] : balance(fastFiles),
    tapArguments: args.filter((arg) => arg !== '--system' && !paths.includes(arg)),
  };
}

function matches(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`);
}

/** Distributes folders over groups of about the same number of files. */
function balance(files: string[]): string[][] {
  const folders = new Map<string, string[]>();
  for (const file of files) folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file]);
  const groups: string[][] = Array.from({ length: maxGroups }, () => []);
  for (const folder of [...folders.values()].sort((a, b) => b.length - a.length)) {
    groups.sort((a, b) => a.length - b.length)[0]?.push(...folder);
  }
  return groups.filter((group) => group.length > 0);
}
