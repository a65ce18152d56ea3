import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';

// Below the ports of the embedded servers (20000), and those from which systems take one for each outgoing connection (32768 on
// Linux): a port of those is free now and used a moment later.
const first = 10_000;
const perProcess = 100;
let taken = 0;

/** A port for a server that cannot choose one itself, or that stops and starts again. No other call gets it, and no connection. */
export async function freePort(): Promise<number> {
  const port = first + (process.pid % 100) * perProcess + (taken++ % perProcess);
  const probe = createServer().listen(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort();
  await once(probe.close(), 'close');
  return port;
}
