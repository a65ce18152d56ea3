import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { root } from '../../../scripts/last-release.ts';
import { imageErrors } from '../../../src/domains/images/schemas.ts';
import { password } from '../../support/app.ts';
import { createEmptyDatabase, execute } from '../../support/database.ts';
import { plainImage } from '../../support/images.ts';
import type { Json } from '../../support/json.ts';
import { requestsPath } from '../../support/partner-requests.ts';
import { createProvider, type Provider } from '../../support/provider.ts';
import { production, type Service, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

interface CallOptions {
  token?: string | undefined;
  body?: unknown;
  /** A file to upload in place of a body. */
  image?: Uint8Array<ArrayBuffer>;
  status?: number;
}

/**
 * Sends each request to one of some instances, in turns. Every response but the expected one is an error, and so is a connection
 * that breaks; nothing is sent again, but an image that was not converted in time.
 */
export function createBalancer() {
  const instances: Service[] = [];
  const failures: string[] = [];
  const responses = new Map<Service, number>();
  const running = new Map<Service, number>();
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
    /** As a proxy does before an instance gets SIGTERM: a request that arrives at the same moment may be reset. */
    async remove(instance: Service): Promise<void> {
      instances.splice(instances.indexOf(instance), 1);
      await until('the last responses', () => running.get(instance) === 0);
    },
    responsesOf: (instance: Service) => responses.get(instance) ?? 0,
    /** @throws when the response is not the expected one, after it was recorded */
    async call(method: string, path: string, options: CallOptions = {}): Promise<Json> {
      const instance = pick();
      running.set(instance, (running.get(instance) ?? 0) + 1);
      try {
        const { status, data } = await send(`${instance.url}${path}`, method, options);
        const expected = options.status ?? 200;
        if (status !== expected)
          throw new Error(`${status} in place of ${expected}: ${JSON.stringify(data)}`);
        responses.set(instance, (responses.get(instance) ?? 0) + 1);
        return data;
      } catch (error) {
        const reason = error instanceof Error ? `${error.message} ${error.cause ?? ''}` : String(error);
        failures.push(`${method} ${path.replace(/\?.*/, '')} at ${instance.url}: ${reason}`);
        throw error;
      } finally {
        running.set(instance, (running.get(instance) ?? 0) - 1);
      }
    },
  };
}

type Balancer = ReturnType<typeof createBalancer>;

async function send(
  url: string,
  method: string,
  { token, body, image }: CallOptions,
): Promise<{ status: number; data: Json }> {
  const form = new FormData();
  if (image) form.append('image', new Blob([image]), 'imageFile.jpg');
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent = image ? form : body === undefined ? null : JSON.stringify(body);
  const response = await fetch(url, { method, headers, body: sent });
  const text = await response.text();
  // A machine that converts no image in time is slow, whatever is upgraded.
  if (image && text.includes(imageErrors.conversionTimeout.text.ko))
    return send(url, method, { token, body, image });
  return { status: response.status, data: text === '' ? undefined : JSON.parse(text).data };
}

/**
 * Follows the notifications of a user as a client does: a stream that ends is opened again at another instance with the last id, and
 * the token that the user has then.
 *
 * @returns the ids of the notifications in the order of their arrival, and what ended
 */
export function followStream(balancer: Balancer, owner: { token: string }) {
  const ids: number[] = [];
  const ended: Service[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  let lastId: string | undefined;
  let current: Service | undefined;

  async function readOnce(instance: Service): Promise<void> {
    const response = await fetch(`${instance.url}/api/v1/notifications/stream/`, {
      headers: {
        authorization: `Bearer ${owner.token}`,
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
      await sleep(pause, undefined, { signal }).catch(() => undefined);
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

/** An owner of a store who is logged in. */
interface Owner {
  username: string;
  email: string;
  token: string;
  refresh: string;
  storeId: number;
}

/** Waits for the email to an address and takes the code out of it. */
async function mailedCode(provider: Provider, email: string): Promise<string> {
  const mail = await until('the email with the code', () => provider.attempts.find(({ to }) => to === email));
  const code = /\b\d{6}\b/.exec(JSON.parse(mail.body).text)?.[0];
  if (code === undefined) throw new Error(`the email has no code: ${mail.body}`);
  return code;
}

/** Signs up, logs in, confirms the address with the mailed code and opens a store. */
async function openStore({ call }: Balancer, provider: Provider, username: string): Promise<Owner> {
  const email = `${username}@example.com`;
  await call('POST', '/auth/signup/', { status: 201, body: { username, password, name: '김두레', email } });
  const code = await mailedCode(provider, email);
  const { access, refresh } = await call('POST', '/auth/login/', { body: { username, password } });
  await call('POST', '/auth/email-verify/confirm/', { token: access, body: { email, code } });
  const { items: categories } = await call('GET', '/api/v1/stores/categories/', { token: access });
  const store = { name: `두레 ${username}`, category_ids: [categories[0].id], description: '', address: '' };
  const { id } = await call('POST', '/api/v1/stores/', { status: 201, token: access, body: store });
  return { username, email, token: access, refresh, storeId: id };
}

const imageFile = new Uint8Array(await plainImage());

/** Milliseconds between two rounds of one of them. */
const pause = 100;

/** What the receiver and the sender of a request must be told by mail. */
interface AcceptedRequest {
  title: string;
  receiver: Owner;
  sender: Owner;
}

/** How many emails to a user contain a text, each counted once however often it was tried. */
export function mailsAbout(provider: Provider, { email }: Owner, text: string): number {
  const found = provider.attempts.filter(({ to, body }) => to === email && body.includes(text));
  return new Set(found.map(({ key }) => key)).size;
}

/**
 * Lets people repeat what they do until they are stopped. Each of them stops at its first failure.
 *
 * @returns the `rounds` that each has completed, and `stop`, which throws the first failure
 */
export function repeatAll(people: Record<string, (round: number) => Promise<void>>, pause: number) {
  const rounds = new Map<string, number>();
  let isStopped = false;
  const each = Object.entries(people).map(async ([name, act]) => {
    for (let round = 1; !isStopped; round++) {
      await act(round);
      rounds.set(name, round);
      await sleep(pause);
    }
  });
  const running = Promise.all(each);
  running.catch(() => undefined);
  async function stop(): Promise<void> {
    isStopped = true;
    await running;
  }
  return { rounds, stop };
}

/** People who do everything that matters repeatedly. The balancer has their failures. */
function startLoad(balancer: Balancer, provider: Provider, owners: [Owner, Owner, Owner, Owner]) {
  const { call } = balancer;
  const [reader, writer] = owners;
  const signedUp: string[] = [];
  const accepted: AcceptedRequest[] = [];

  const refreshed = (refresh: string) => call('POST', '/auth/token/refresh/', { body: { refresh } });
  const people: Record<string, (round: number) => Promise<void>> = {
    async reads() {
      const get = (path: string) => call('GET', path, { token: reader.token });
      for (const path of [
        '/auth/me/',
        '/auth/sessions/',
        '/api/v1/stores/me/',
        '/api/v1/stores/mypage/',
        '/api/v1/stores/?q=두레',
        '/api/v1/stores/partners/',
        `/api/v1/stores/${writer.storeId}/`,
        '/api/v1/posts/?q=함께',
        '/api/v1/posts/?mine=true',
        `${requestsPath}?box=sent`,
        '/api/v1/notifications/mypage/',
        '/api/v1/notifications/unread-count/',
        '/api/v1/notifications/preferences/',
      ])
        await get(path);
    },
    async logsIn() {
      const { username } = writer;
      const { refresh } = await call('POST', '/auth/login/', { body: { username, password } });
      const { access: token, refresh: next } = await refreshed(refresh);
      await call('GET', '/auth/me/', { token });
      await refreshed(next);
      await call('POST', '/auth/logout/', { token });
    },
    async refreshes() {
      const { access, refresh } = await refreshed(reader.refresh);
      Object.assign(reader, { token: access, refresh });
    },
    async writes(round) {
      const { token } = writer;
      const image = await call('POST', '/api/v1/images/', { status: 201, token, image: imageFile });
      const post = { title: `함께 ${round}`, content: '주말에 같이 해요.', images: [image.url] };
      const { id } = await call('POST', '/api/v1/posts/', { status: 201, token, body: post });
      await call('PATCH', `/api/v1/posts/${id}/`, { token, body: { title: `바뀐 ${round}`, images: [] } });
      await call('GET', `/api/v1/posts/${id}/`, { token: reader.token });
      await call('DELETE', `/api/v1/posts/${id}/`, { token });
      await call('PATCH', '/api/v1/stores/me/', { token, body: { description: `${round}번째 소개` } });
    },
    async asks(round) {
      // An address gets at most 60 emails in an hour, and here three in four rounds.
      if (round > 72) return;
      const [sender, receiver] = [owners[round % 4] ?? reader, owners[(round + 1) % 4] ?? reader];
      const title = `요청 ${round}번`;
      const body = { title, content: '함께할 가게를 찾습니다.' };
      const post = await call('POST', '/api/v1/posts/', { status: 201, token: receiver.token, body });
      const request = { post_id: post.id, message: '함께 해요!' };
      const { id } = await call('POST', requestsPath, { status: 201, token: sender.token, body: request });
      // An email about a request that has changed meanwhile is not sent.
      await until(`the request: ${title}`, () => mailsAbout(provider, receiver, title) === 1);
      await call('POST', `${requestsPath}${id}/accept/`, { token: receiver.token });
      await call('GET', `${requestsPath}${id}/`, { token: sender.token });
      await until(`the response: ${title}`, () => mailsAbout(provider, sender, title) === 1);
      accepted.push({ title, receiver, sender });
      await call('POST', `${requestsPath}${id}/end/`, { token: sender.token });
      const unread = { body: { up_to_id: 2 ** 31 - 1 } };
      await call('POST', '/api/v1/notifications/mark-read/', { ...unread, token: receiver.token });
    },
    async signsUp(round) {
      const username = `new_${round}`;
      const email = `${username}@example.com`;
      const account = { username, password, name: '이두레', email };
      await call('POST', '/auth/signup/', { status: 201, body: account });
      signedUp.push(email);
      const code = await mailedCode(provider, email);
      await call('POST', '/auth/email-verify/confirm/', { body: { email, code } });
    },
  };

  const { rounds, stop } = repeatAll(people, pause);
  return {
    signedUp,
    accepted,
    /** Waits until each of them began and completed so many rounds from now. @throws when a request failed */
    async goOn(count: number): Promise<void> {
      const goal = new Map(Object.keys(people).map((name) => [name, (rounds.get(name) ?? 0) + count + 1]));
      await until('the rounds of everybody', () => {
        if (balancer.failures.length > 0) throw new Error(balancer.failures.join('\n'));
        return [...goal].every(([name, round]) => (rounds.get(name) ?? 0) >= round);
      });
    },
    stop,
  };
}

/** A database without migrations, and instances behind a balancer; everything ends with the test. */
export async function startDeployment(t: Test) {
  const database = await createEmptyDatabase();
  const provider = await createProvider(t);
  const balancer = createBalancer();
  const environment = {
    ...production,
    DATABASE_URL: database,
    DATA_DIR: t.testdir(),
    RESEND_BASE_URL: provider.url,
    // Longer than the test, because most log in once.
    ACCESS_TOKEN_TTL: '2h',
    RATE_LIMIT_ENABLED: 'false',
    QUOTA_POSTS_PER_DAY: '0',
    QUOTA_EDITS_PER_DAY: '0',
    QUOTA_REQUESTS_PER_DAY: '0',
  };

  /** Starts an instance, which takes requests as soon as it is ready. */
  async function start(variables: Record<string, string> = {}, folder = root): Promise<Service> {
    const service = await startService({ ...environment, ...variables }, [join(folder, 'dist/server.js')]);
    t.teardown(() => service.end('SIGKILL'));
    await until('ready', async () => (await fetch(`${service.url}/health/ready`)).ok);
    balancer.add(service);
    return service;
  }

  /** Opens four stores, of which two have a stream, and begins the load. */
  async function openStores() {
    const names = ['reader', 'writer', 'sender', 'receiver'];
    const owners = await Promise.all(names.map((name) => openStore(balancer, provider, name)));
    const [reader, writer, sender, receiver] = owners;
    if (!reader || !writer || !sender || !receiver) throw new Error('there are four owners');
    const streams = [sender, receiver].map((owner) => followStream(balancer, owner));
    const load = startLoad(balancer, provider, [reader, writer, sender, receiver]);
    t.teardown(async () => {
      for (const stream of streams) await stream.stop();
      await load.stop().catch(() => undefined);
    });
    await load.goOn(1);

    const everyEvent = (t: Test, least: number) =>
      t.test('every stream had every notification once', async (t) => {
        for (const [index, { username }] of [sender, receiver].entries()) {
          const ids = await execute(
            database,
            `SELECT n.id::int FROM notifications n JOIN users u ON u.id = n.user_id WHERE u.username = '${username}' ORDER BY n.id`,
          );
          const stream = streams[index];
          await until('the last notification', () => stream?.ids.at(-1) === ids.at(-1));
          t.same(stream?.ids, ids);
          t.ok(ids.length >= least);
          await stream?.stop();
        }
      });
    return { owners, streams, load, everyEvent };
  }

  return { provider, balancer, environment, start, openStores };
}
