import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The system tier: files and folders with real processes, outages, raw sockets, Redis or PgBouncer, with the load of production
 * or with process-wide state. Each file has a process of its own. The longest come first.
 */
const systemTests = [
  'test/outages.test.ts',
  'test/embedded-postgres/',
  'test/notifications/stream-ends.test.ts',
  'test/mail/worker.test.ts',
  'test/faults.test.ts',
  'test/server.test.ts',
  'test/database/migrations.test.ts',
  'test/database/prisma-compatibility.test.ts',
  'test/posts/plans.test.ts',
  'test/http/availability.test.ts',
  'test/http/openapi.test.ts',
  'test/http/overload.test.ts',
  'test/http/rate-limits.test.ts',
  'test/http/raw-protocol.test.ts',
  'test/http/redis.test.ts',
  'test/auth/login-hashing.test.ts',
  'test/pooler.test.ts',
  'test/http/tracing.test.ts',
];

interface Selection {
  /** One process per file. */
  systemFiles: string[];
  /** One process per group, which is a folder; the fast tier. */
  groups: Map<string, string[]>;
  tapArguments: string[];
}

/**
 * Reads the arguments of `npm test`: `--fast` and `--system` select a tier, files and folders below test/ select files, and
 * everything else is for tap.
 *
 * @param root folder of the repository
 * @throws when an argument or an entry of the system tier matches no test file
 */
export async function selectTests(root: string, args: string[]): Promise<Selection> {
  const entries = await readdir(join(root, 'test'), { recursive: true });
  const files = entries
    .map((entry) => join('test', entry))
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .sort();
  const tier = args.find((arg) => arg === '--fast' || arg === '--system');
  const paths = args.filter((arg) => arg.startsWith('test/'));
  for (const path of [...systemTests, ...paths]) {
    if (!files.some((file) => matches(file, path))) throw new Error(`${path} matches no test file`);
  }
  const selected = files.filter((file) => paths.length === 0 || paths.some((path) => matches(file, path)));
  const systemFiles = systemTests.flatMap((path) => selected.filter((file) => matches(file, path)));
  const fastFiles = selected.filter((file) => !systemFiles.includes(file));
  return {
    systemFiles: tier === '--fast' ? [] : systemFiles,
    groups: tier === '--system' ? new Map() : groupByFolder(fastFiles),
    tapArguments: args.filter((arg) => arg !== tier && !paths.includes(arg)),
  };
}

function matches(file: string, path: string): boolean {
  return file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`);
}

function groupByFolder(files: string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split('/').slice(1, -1).join('-') || 'root';
    groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  return groups;
}
