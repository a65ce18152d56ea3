import {
  type Client,
  type ClientOptions,
  createClient as createDefaultClient,
  memoryStorage,
} from '@dure/client';
import type { Test } from 'tap';
import { createTestApp, password, type TestApp } from '../../../test/support/app.ts';
import { atMost } from '../../../test/support/time.ts';

/** A request that a client sent. */
interface Sent {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}

/** The network of a client, which a test can watch and break. */
interface Wire {
  fetch: NonNullable<ClientOptions['fetch']>;
  sent: Sent[];
  /** Requests to a path, without its query. */
  to(path: string): Sent[];
  /** Called before each request: throws for a lost network, answers in place of the service, or lets it pass. */
  before(request: Sent): Promise<Response | undefined> | Response | undefined;
  /** Called with each response of the service: throws for a response that is lost. */
  after(request: Sent, response: Response): unknown;
}

export function createWire(): Wire {
  const wire: Wire = {
    sent: [],
    to: (path) => wire.sent.filter((request) => request.path.split('?')[0] === path),
    before: () => undefined,
    after: () => undefined,
    async fetch(url, init) {
      const path = url.replace(new URL(url).origin, '');
      const { method = 'GET', headers, body } = init;
      const request = { method, path, headers: new Headers(headers), body: String(body ?? '') };
      wire.sent.push(request);
      const instead = await wire.before(request);
      if (instead) return instead;
      const response = await fetch(url, init);
      await wire.after(request, response);
      return response;
    },
  };
  return wire;
}

/** A client whose calls may take as long as a slow machine needs. */
export function createClient(options: ClientOptions): Client {
  return createDefaultClient({ timeout: atMost(15_000), ...options });
}

/** What a proxy answers whose service is down. */
export function badGateway(status = 502, headers: Record<string, string> = {}): Response {
  const html = { 'content-type': 'text/html', ...headers };
  return new Response('<html>Bad Gateway</html>', { status, headers: html });
}

export interface Service extends TestApp {
  baseUrl: string;
}

/** The service on a real socket, until the test ends. */
export async function startService(
  t: Test,
  ...[environment, options]: Parameters<typeof createTestApp>
): Promise<Service> {
  const app = await createTestApp(environment, { isolated: true, ...options });
  t.teardown(async () => {
    // A response that is just being sent would keep its connection, and with it the server, for as long as keep-alive lasts.
    app.app.server.closeAllConnections();
    await app.close();
  });
  const baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...app, baseUrl };
}

export const images = ['https://img.example.com/1.jpg'];

let counter = 0;

/** A client that is signed in to a new account, with its network and its storage. */
export async function signedIn({ baseUrl }: Pick<Service, 'baseUrl'>, options: Partial<ClientOptions> = {}) {
  counter += 1;
  const username = `client${process.pid}n${counter}`;
  const wire = createWire();
  const storage = options.storage ?? memoryStorage();
  const dure = createClient({ baseUrl, fetch: wire.fetch, ...options, storage });
  const user = await dure.auth.signUp({
    username,
    password,
    name: '김두레',
    email: `${username}@example.com`,
  });
  await dure.auth.logIn({ username, password });
  wire.sent.length = 0;
  return { dure, wire, storage, user, username };
}

/** A client whose account has a store. */
export async function openShop(
  service: Pick<Service, 'baseUrl'>,
  name: string,
  options: Partial<ClientOptions> = {},
) {
  const shop = await signedIn(service, options);
  const store = await shop.dure.stores.create({ name, category_ids: [1] });
  shop.wire.sent.length = 0;
  return { ...shop, store };
}

/** Replaces the access token by one that the service rejects. */
export async function spoilAccess({ storage }: Awaited<ReturnType<typeof signedIn>>): Promise<void> {
  const tokens = await storage.load();
  if (tokens) await storage.save({ ...tokens, access: 'spoilt' });
}

/** A pair of shops: `notify` sends the owner of the post a request, or withdraws it. */
export async function createPair(service: Service, options: Partial<ClientOptions> = {}) {
  const receiver = await openShop(service, '두레 카페', options);
  const sender = await openShop(service, '골목 꽃집');
  const post = await receiver.dure.posts.create({ title: '꽃집을 찾아요', content: '함께 팔아요.', images });
  let pending: number | undefined;
  async function notify(times = 1): Promise<void> {
    for (let count = 0; count < times; count++) {
      if (pending === undefined)
        pending = (await sender.dure.partnerRequests.create({ post_id: post.id, message: '같이 해요' })).id;
      else pending = void (await sender.dure.partnerRequests.withdraw({ partner_request_id: pending }));
    }
  }
  return { receiver, sender, post, notify };
}

/** The rejection of a promise. */
export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => Promise.reject(new Error(`resolved to ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  );
}
