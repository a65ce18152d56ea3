import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { serve } from './serve.ts';

/** How the provider answers: it accepts the email, or a handler of the test answers. */
export type ProviderBehaviour = 'ok' | ((response: ServerResponse, accept: () => void) => void);

/** A fake of Resend's API that records the emails it got. */
export interface Provider {
  url: string;
  /** How it answers from now on. */
  behaviour: ProviderBehaviour;
  /** Every attempt that reached it, in order. */
  attempts: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & {
    to: string;
    key: string;
    body: string;
  })[];
  /** Idempotency keys of the emails that it accepted for an address; Resend treats a repeated key as the same mail. */
  taken(to: string): string[];
}

/** Starts a provider that stops with the test. */
export async function createProvider(t: Test): Promise<Provider> {
  const accepted = new Map<string, Set<string>>();
  const url = await serve(t, async (request, response) => {
    const body = await text(request);
    const { to } = JSON.parse(body);
    const { method, url, headers } = request;
    const key = String(headers['idempotency-key']);
    provider.attempts.push({ method, url, headers, to, key, body });
    const accept = () => accepted.set(to, (accepted.get(to) ?? new Set()).add(key));
    if (provider.behaviour === 'ok') {
      accept();
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: key }));
    } else {
      provider.behaviour(response, accept);
    }
  });
  const provider: Provider = {
    url,
    behaviour: 'ok',
    attempts: [],
    taken: (to) => [...(accepted.get(to) ?? [])],
  };
  return provider;
}
