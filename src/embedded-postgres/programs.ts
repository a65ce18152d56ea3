import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Writable } from 'node:stream';
import { type Binaries, EmbeddedServerError, findBinaries, USE_DATABASE_URL } from './binaries.ts';

export interface Owner {
  uid: number;
  gid: number;
}

interface Identity {
  /** The owner that PostgreSQL's files must have when it is not simply the user of this process. */
  owner: Owner | undefined;
  /** Command line that another program is appended to. */
  prefix: string[];
  /** User that the child process is switched to when it is created. */
  user: Partial<Owner>;
}

/** Where PostgreSQL's programs are and as whom they run. */
export type Programs = Binaries & Identity;

/**
 * Finds the programs that npm installed and a user that they accept and that reaches them and the folder.
 *
 * @param folder - folder of the database
 * @param clusterOwner - owner of the files of an existing database
 * @throws EmbeddedServerError when nothing is installed for this platform or it cannot run here
 */
export async function findPrograms(folder: string, clusterOwner: Owner | undefined): Promise<Programs> {
  const binaries = await findBinaries(folder);
  const reasons = new Set<string>();
  for (const identity of await possibleIdentities(clusterOwner)) {
    const programs = { ...binaries, ...identity };
    const refusal = await tryToRun(programs, folder);
    if (refusal === undefined) return programs;
    reasons.add(refusal);
  }
  const reason = [...reasons].join('; ');
  throw new EmbeddedServerError(`The embedded PostgreSQL cannot run here (${reason}). ${USE_DATABASE_URL}`);
}

/** Neither a refused identity nor a closed parent folder nor a foreign C library can be told beforehand. */
async function tryToRun(programs: Programs, folder: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  const enterAndRun = ['sh', '-c', 'cd "$1" && exec "$0" --version', programs.postgres, folder];
  const { code, output } = await runProgram(programs, enterAndRun).catch((error: unknown) => ({
    code: undefined,
    output: String(error),
  }));
  return code === 0 ? undefined : output.trim();
}

/**
 * PostgreSQL refuses root, and initdb a user without a name. The ways around, best first:
 *
 * - the owner of an existing database, so that a single start as root does not take it away from its user;
 * - a user namespace in which this user has another id: the files stay its own, and it reaches every folder of its own;
 * - for root where namespaces are forbidden (Docker's default), the system's account for such servers; with
 *   CAP_DAC_OVERRIDE, so that it gets into a folder that only root may enter.
 */
async function possibleIdentities(clusterOwner: Owner | undefined): Promise<Identity[]> {
  const unchanged: Identity = { prefix: [], user: {}, owner: undefined };
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return [unchanged];
  if (uid !== 0 && hasName()) return [unchanged];
  const account = await findAccount();
  const mapped: Identity = {
    prefix: ['unshare', '--user', `--map-user=${account.uid}`, `--map-group=${account.gid}`],
    user: {},
    owner: { uid, gid },
  };
  if (uid !== 0) return [mapped, unchanged];
  return [...(clusterOwner?.uid ? asUser(clusterOwner) : []), mapped, ...asUser(account)];
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

async function findAccount(): Promise<Owner> {
  const accounts = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  for (const name of ['postgres', '_postgres', 'nobody', 'daemon']) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  return { uid: 1000, gid: 1000 };
}

function asUser(owner: Owner): Identity[] {
  const withFileAccess = [
    'setpriv',
    ...[`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'],
    ...['--inh-caps=-all,+dac_override', '--ambient-caps=-all,+dac_override'],
    // Without this access(2), by which PostgreSQL looks for its own programs, leaves the capability aside.
    '--securebits=+no_setuid_fixup',
  ];
  return [
    { prefix: withFileAccess, user: {}, owner },
    { prefix: [], user: owner, owner },
  ];
}

/**
 * Runs a program in a session of its own, out of reach of the terminal's Ctrl-C, and ties it to this process.
 * Descriptor 3 is a pipe that the system closes when this process ends, in whatever way; a shell in the background
 * waits for that and then ends the program, whose pid is that of the outer shell, `$$`. A line from the pipe says
 * that the program has ended by itself. The background shell is forked twice, as PostgreSQL would take the end of
 * a child that it does not know for a crash. Descriptor 4 is the lock, which only the program keeps.
 */
const supervise = (endProgram: string) => `
(
  ( trap '' HUP INT QUIT TERM; read -r ended <&3 || ${endProgram} ) 4<&- </dev/null >/dev/null 2>&1 &
)
exec "$@" 3<&-`;

/** PostgreSQL's fast shutdown; again, as a signal is lost that comes just when the outer shell becomes PostgreSQL. */
const SHUT_DOWN = 'for attempt in 1 2 3 4 5; do kill -s INT $$ || exit; sleep 1; done';
/** What has not finished by then is of no use, and initdb takes its time to obey anything else. */
const KILL = 'kill -s KILL -- -$$';

/**
 * Starts a program that ends with this process, see above. Windows has no such shell: there it can outlive a crash.
 *
 * @param lock - descriptor of a file whose lock the program keeps as long as it or a child of it lives
 */
function startProgram(
  programs: Programs,
  endProgram: string,
  command: string[],
  lock?: number,
): ChildProcess {
  const options = { cwd: '/', env: programs.environment, windowsHide: true, ...programs.user };
  const [program = '', ...args] = [...programs.prefix, ...command];
  if (process.platform === 'win32') {
    return spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  }
  const child = spawn('sh', ['-c', supervise(endProgram), 'supervised', program, ...args], {
    ...options,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', lock ?? 'ignore'],
  });
  const leash = child.stdio[3];
  if (leash instanceof Writable) {
    leash.on('error', () => undefined);
    child.once('exit', () => leash.end('\n'));
  }
  return child;
}

/** Starts PostgreSQL, which shuts down when this process ends. */
export function startServer(programs: Programs, args: string[], lock: number): ChildProcess {
  return startProgram(programs, SHUT_DOWN, [programs.postgres, ...args], lock);
}

/** Runs a program to its end; it is killed when this process ends before it. */
export function runProgram(
  programs: Programs,
  command: string[],
  lock?: number,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = startProgram(programs, KILL, command, lock);
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
