import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { freePort } from './free-port.ts';

/**
 * Starts a TCP proxy in front of a server, by default a database server, until the test ends. Its connections can be cut.
 *
 * @param url of a database; `url` of the proxy is the same database through the proxy
 */
export async function createTcpProxy(t: Test, url: string) {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  let frozen = false;
  let heldText: string | undefined;
  let held = 0;
  let accepted = 0;
  const server = createServer((client) => {
    accepted += 1;
    track(client);
    if (frozen) return;
    const upstream = connect({ host: target.hostname, port: Number(target.port || 5432) });
    track(upstream);
    client.on('data', (data) => {
      if (heldText === undefined || !data.includes(heldText)) return;
      held += 1;
      upstream.unpipe(client).pause();
    });
    client.pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  }

  const port = await freePort();

  async function listen(): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  /** Ends every connection and rejects new ones, as a server that went down does. */
  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  /** Stops passing data on the open connections, as a network that loses packets does. New ones work. */
  function stall(): void {
    for (const socket of sockets) socket.unpipe().pause();
  }

  await listen();
  t.teardown(cut);
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${port}`;
  return {
    url: proxied.href,
    cut,
    stall,
    /** Accepts connections and never answers, as a server that hangs does. */
    freeze() {
      frozen = true;
      stall();
    },
    /** Stops passing on the responses of each connection whose client sends this text from now on. */
    holdResponsesTo(text: string) {
      heldText = text;
    },
    /** Passes new connections on to another server, as a name or a load balancer that was changed does. Open ones stay. */
    redirect(to: string) {
      target = new URL(to);
    },
    /** How many connections are held. */
    held: () => held,
    /** How many connections were accepted up to now. */
    accepted: () => accepted,
    /** Forwards everything again. */
    async restore(): Promise<void> {
      frozen = false;
      heldText = undefined;
      for (const socket of sockets) socket.destroy();
      if (!server.listening) await listen();
    },
  };
}
