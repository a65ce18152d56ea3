import { spawn } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { Test } from 'tap';
import { untilAccepted } from './database.ts';
import { freePort } from './free-port.ts';

/** Starts PgBouncer in front of a database, with fewer connections than the app has. */
export async function startPooler(t: Test, databaseUrl: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const ownPort = await freePort();
  const directory = t.testdir();
  const file = join(directory, 'pgbouncer.ini');
  const target = `host=${hostname} port=${port || 5432} user=${username} password='${decodeURIComponent(password)}'`;
  const settings = [
    '[databases]',
    `* = ${target}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${ownPort}`,
    'unix_socket_dir =',
    // PgBouncer's word for: all clients are the user above, without a password.
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 3',
    'server_login_retry = 1',
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  // It does not run as root.
  await chmod(directory, 0o755);
  const isRoot = process.getuid?.() === 0;
  const pooler = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
  t.teardown(() => pooler.kill('SIGKILL'));
  const url = `postgresql://app@127.0.0.1:${ownPort}${pathname}`;
  await untilAccepted(url);
  return url;
}
