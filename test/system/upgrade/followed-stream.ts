import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../support/service.ts';
import type { Balancer } from './balancer.ts';

/**
 * Follows the notifications of a user as a client does: a stream that ends is opened again at another instance with the last id.
 *
 * @returns the ids of the notifications in the order of their arrival, and what ended
 */
export function followStream(balancer: Balancer, token: string) {
  const ids: number[] = [];
  const ended: Service[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  let lastId: string | undefined;
  let current: Service | undefined;

  async function readOnce(instance: Service): Promise<void> {
    const response = await fetch(`${instance.url}/api/v1/notifications/stream/`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
      },
      signal,
    });
    if (response.status !== 200) throw new Error(`${response.status} from ${instance.url}`);
    current = instance;
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        lastId = /^id: (\d+)$/m.exec(block)?.[1] ?? lastId;
        if (/^event: notification$/m.test(block)) ids.push(Number(lastId));
      }
    }
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const instance = balancer.pick();
      try {
        await readOnce(instance);
        ended.push(instance);
      } catch (error) {
        if (!signal.aborted) balancer.failures.push(`a stream at ${instance.url}: ${error}`);
      }
      // Clients wait for a moment, too.
      await sleep(100, undefined, { signal }).catch(() => undefined);
    }
  }

  const following = follow();
  return {
    ids,
    /** Instances that ended the stream, in order. */
    ended,
    isOpenAt: (instance: Service) => current === instance,
    async stop(): Promise<void> {
      stopping.abort();
      await following;
    },
  };
}
