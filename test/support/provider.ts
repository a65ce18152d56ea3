import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { serve } from './serve.ts';

/** How the provider answers: it accepts the email, or a handler of the test answers. */
export type ProviderBehaviour = 'ok' | ((response: ServerResponse) => void);

/** One attempt that reached the provider. */
interface Attempt extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  to: string;
  key: string;
  body: string;
}

export type Provider = Awaited<ReturnType<typeof createProvider>>;

/** Starts a fake of Resend's API that answers every request in the same way, and stops with the test. */
export async function createProvider(t: Test, behaviour: ProviderBehaviour = 'ok') {
  const accepted = new Map<string, Set<string>>();
  const url = await serve(t, async (request, response) => {
    const body = await text(request);
    const { to } = JSON.parse(body);
    const { method, url, headers } = request;
    const key = String(headers['idempotency-key']);
    provider.attempts.push({ method, url, headers, to, key, body });
    if (behaviour !== 'ok') return behaviour(response);
    accepted.set(to, (accepted.get(to) ?? new Set()).add(key));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: key }));
  });
  const provider = {
    url,
    /** In order. */
    attempts: [] as Attempt[],
    /** Idempotency keys of the emails that it accepted for an address; Resend treats a repeated key as the same mail. */
    taken: (to: string) => [...(accepted.get(to) ?? [])],
  };
  return provider;
}
