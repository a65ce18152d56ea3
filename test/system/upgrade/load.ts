import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { password } from '../../support/app.ts';
import type { Provider } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import type { Balancer } from './balancer.ts';
import { mailedCode, type Owner } from './people.ts';

const requests = '/api/v1/notifications/partner-request/';
const picture = new Uint8Array(
  await sharp({ create: { width: 64, height: 48, channels: 3, background: 'teal' } })
    .png()
    .toBuffer(),
);

/** Milliseconds between two rounds of one of them. */
const pause = 20;

/** What the receiver and the sender of a request must be told by mail. */
interface Answered {
  title: string;
  receiver: Owner;
  sender: Owner;
}

/** How many mails to a user contain a text, each counted once however often it was tried. */
export function mailsAbout(provider: Provider, { email }: Owner, text: string): number {
  const found = provider.attempts.filter(({ to, body }) => to === email && body.includes(text));
  return new Set(found.map(({ key }) => key)).size;
}

/** People who do everything that matters again and again. Each of them stops at its first failure, which the balancer has. */
export function startLoad(balancer: Balancer, provider: Provider, owners: [Owner, Owner, Owner, Owner]) {
  const { call } = balancer;
  const [reader, writer] = owners;
  const rounds = new Map<string, number>();
  const signedUp: string[] = [];
  const answered: Answered[] = [];
  let isStopped = false;

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
        `${requests}?box=sent`,
        '/api/v1/notifications/mypage/',
        '/api/v1/notifications/unread-count/',
        '/api/v1/notifications/preferences/',
      ])
        await get(path);
    },
    async logsIn() {
      const { username } = writer;
      const { refresh } = await call('POST', '/auth/login/', { body: { username, password } });
      const { access: token, refresh: next } = await call('POST', '/auth/token/refresh/', {
        body: { refresh },
      });
      await call('GET', '/auth/me/', { token });
      await call('POST', '/auth/token/refresh/', { body: { refresh: next } });
      await call('POST', '/auth/logout/', { token });
    },
    async refreshes() {
      const { access, refresh } = await call('POST', '/auth/token/refresh/', {
        body: { refresh: reader.refresh },
      });
      Object.assign(reader, { token: access, refresh });
    },
    async writes(round) {
      const { token } = writer;
      const image = await call('POST', '/api/v1/images/', { status: 201, token, image: picture });
      const post = { title: `함께 ${round}`, content: '주말에 같이 해요.', images: [image.url] };
      const { id } = await call('POST', '/api/v1/posts/', { status: 201, token, body: post });
      await call('PATCH', `/api/v1/posts/${id}/`, { token, body: { title: `바뀐 ${round}`, images: [] } });
      await call('GET', `/api/v1/posts/${id}/`, { token: reader.token });
      await call('DELETE', `/api/v1/posts/${id}/`, { token });
      await call('PATCH', '/api/v1/stores/me/', { token, body: { description: `${round}번째 소개` } });
    },
    async asks(round) {
      // An address gets at most 60 mails in an hour, and here three in four rounds.
      if (round > 72) return;
      const [sender, receiver] = [owners[round % 4] ?? reader, owners[(round + 1) % 4] ?? reader];
      const title = `요청 ${round}번`;
      const body = { title, content: '함께할 가게를 찾습니다.' };
      const post = await call('POST', '/api/v1/posts/', { status: 201, token: receiver.token, body });
      const { id } = await call('POST', requests, {
        status: 201,
        token: sender.token,
        body: { post_id: post.id, message: '함께 해요!' },
      });
      // A mail about a request that has changed meanwhile is not sent.
      await until(`the request: ${title}`, () => mailsAbout(provider, receiver, title) === 1);
      await call('POST', `${requests}${id}/accept/`, { token: receiver.token });
      await call('GET', `${requests}${id}/`, { token: sender.token });
      await until(`the answer: ${title}`, () => mailsAbout(provider, sender, title) === 1);
      answered.push({ title, receiver, sender });
      await call('POST', `${requests}${id}/end/`, { token: sender.token });
      const unread = { body: { up_to_id: 2 ** 31 - 1 } };
      await call('POST', '/api/v1/notifications/mark-read/', { ...unread, token: receiver.token });
    },
    async signsUp(round) {
      const username = `new_${round}`;
      const email = `${username}@example.com`;
      await call('POST', '/auth/signup/', {
        status: 201,
        body: { username, password, name: '이두레', email },
      });
      signedUp.push(email);
      await call('POST', '/auth/email-verify/confirm/', {
        body: { email, code: await mailedCode(provider, email) },
      });
    },
  };

  async function repeat(name: string, act: (round: number) => Promise<void>): Promise<void> {
    for (let round = 1; !isStopped; round++) {
      await act(round);
      rounds.set(name, round);
      await sleep(pause);
    }
  }

  const running = Object.entries(people).map(([name, act]) => repeat(name, act));
  const all = Promise.all(running);
  all.catch(() => undefined);

  return {
    signedUp,
    answered,
    /** Waits until each of them began and completed so many rounds from now. @throws when a request failed */
    async goOn(count: number): Promise<void> {
      const goal = new Map(Object.keys(people).map((name) => [name, (rounds.get(name) ?? 0) + count + 1]));
      await until('the rounds of everybody', () => {
        if (balancer.failures.length > 0) throw new Error(balancer.failures.join('\n'));
        return [...goal].every(([name, round]) => (rounds.get(name) ?? 0) >= round);
      });
    },
    async stop(): Promise<void> {
      isStopped = true;
      await all;
    },
  };
}
