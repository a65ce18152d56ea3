import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

/** What the provider does with a mail: takes it, or answers in another way. */
export type ProviderMood = 'ok' | ((response: ServerResponse, take: () => void) => void);

/** A server in Resend's place that keeps what it took. */
export interface Provider {
  url: string;
  /** How it answers from now on. */
  mood: ProviderMood;
  /** Every try that reached it, in order. */
  tries: { to: string; key: string; body: string }[];
  /** The keys of the mails that it took for an address; a key that comes again is the same mail, as Resend has it. */
  taken(to: string): string[];
}

/** Starts a provider that ends with the test. */
export async function createProvider(t: Test): Promise<Provider> {
  const taken = new Map<string, Set<string>>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { to } = JSON.parse(body);
    const key = String(request.headers['idempotency-key']);
    provider.tries.push({ to, key, body });
    const take = () => taken.set(to, (taken.get(to) ?? new Set()).add(key));
    if (provider.mood === 'ok') {
      take();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: key }));
    } else {
      provider.mood(response, take);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const provider: Provider = {
    url: `http://127.0.0.1:${port}`,
    mood: 'ok',
    tries: [],
    taken: (to) => [...(taken.get(to) ?? [])],
  };
  return provider;
}
