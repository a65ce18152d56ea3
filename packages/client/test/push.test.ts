import { createClient } from '@dure/client';
import t from 'tap';
import { caught } from './clients.ts';

t.test('a browser that the service does not take gets no push messages', async (t) => {
  let current: object | null = null;
  const subscription = {
    endpoint: 'https://push.example.com/1',
    toJSON: () => ({ keys: { p256dh: 'AA', auth: 'AA' } }),
    async unsubscribe() {
      current = null;
      return true;
    },
  };
  const pushManager = {
    getSubscription: async () => current,
    async subscribe() {
      current = subscription;
      return subscription;
    },
  };
  const registration = { pushManager };
  const serviceWorker = {
    register: async () => registration,
    ready: Promise.resolve(registration),
    getRegistration: async () => registration,
  };
  const browser: Record<string, unknown> = {
    navigator: { serviceWorker },
    Notification: { permission: 'granted', requestPermission: async () => 'granted' },
    PushManager: class {},
  };
  for (const [name, value] of Object.entries(browser)) {
    t.intercept(globalThis, name as keyof typeof globalThis, { value });
  }
  let save = (): Response => Response.json({ message: '', data: { id: 1 } }, { status: 201 });
  const fetch = async (url: string) =>
    /key\/$/.test(url) ? Response.json({ message: '', data: { public_key: 'AAAA' } }) : save();
  const { push } = createClient({ baseUrl: 'https://api.example.com', fetch, retries: 0 });
  t.match(await push.subscribe('/worker.js'), { id: 1 });
  t.equal(await push.status(), 'on');

  const data = { detail: '', code: 'limit_reached' };
  save = () => Response.json({ message: '', data }, { status: 409 });
  t.match(await caught(push.subscribe('/worker.js')), { name: 'ApiError', status: 409 });
  t.equal(await push.status(), 'off');
  save = () => {
    throw new TypeError('fetch failed');
  };
  t.match(await caught(push.subscribe('/worker.js')), { name: 'NetworkError' });
  t.equal(await push.status(), 'off');
});
