import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';
import { succeeds } from './until.ts';

// A hundred for each process of a run. They are below the ports of the embedded servers (20000), and those from which systems take
// one for each outgoing connection (32768 on Linux): a port of those is free now and used a moment later.
const perProcess = 100;
const first = 10_000 + (Number(process.env['DURE_TEST_PORTS'] ?? process.pid) % 100) * perProcess;
let taken = 0;

/** A port for a server that cannot choose one itself, or that stops and starts again. No other call gets it, and no connection. */
export async function freePort(): Promise<number> {
  const port = first + (taken++ % perProcess);
  const probe = createServer().listen(port, '127.0.0.1');
  if (!(await succeeds(once(probe, 'listening')))) return freePort();
  await once(probe.close(), 'close');
  return port;
}
