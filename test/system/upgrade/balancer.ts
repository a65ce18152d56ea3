import type { Json } from '../../support/json.ts';
import type { Service } from '../../support/service.ts';

/** A parsed answer. */
interface Answer {
  data: Json;
  status: number;
}

export interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  /** A file to upload in place of a body. */
  image?: Uint8Array<ArrayBuffer>;
  status?: number;
}

/**
 * Sends each request to one of some instances, in turns. Every answer but the expected one is a failure, and so is a connection
 * that breaks; nothing is sent again.
 */
export function createBalancer() {
  const instances: Service[] = [];
  const failures: string[] = [];
  const answered = new Map<Service, number>();
  let turn = 0;

  function pick(): Service {
    const instance = instances[turn++ % instances.length];
    if (instance === undefined) throw new Error('no instance takes requests');
    return instance;
  }

  return {
    failures,
    pick,
    add: (instance: Service) => void instances.push(instance),
    /** As a proxy does before an instance gets SIGTERM. What was sent is still answered. */
    remove: (instance: Service) => void instances.splice(instances.indexOf(instance), 1),
    answeredBy: (instance: Service) => answered.get(instance) ?? 0,
    /** @throws when the answer is not the expected one, after it was recorded */
    async call(method: string, path: string, options: CallOptions = {}): Promise<Answer['data']> {
      const instance = pick();
      try {
        const { status, data } = await send(`${instance.url}${path}`, method, options);
        const expected = options.status ?? 200;
        if (status !== expected)
          throw new Error(`${status} in place of ${expected}: ${JSON.stringify(data)}`);
        answered.set(instance, (answered.get(instance) ?? 0) + 1);
        return data;
      } catch (error) {
        const reason = error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error);
        failures.push(`${method} ${path.replace(/\?.*/, '')} at ${instance.url}: ${reason}`);
        throw error;
      }
    },
  };
}

export type Balancer = ReturnType<typeof createBalancer>;

async function send(url: string, method: string, { token, body, image }: CallOptions): Promise<Answer> {
  const form = new FormData();
  if (image) form.append('image', new Blob([image]), 'picture.png');
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(image ? { body: form } : {}),
  });
  const text = await response.text();
  return { status: response.status, data: text === '' ? undefined : JSON.parse(text).data };
}
