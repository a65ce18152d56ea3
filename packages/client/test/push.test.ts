import { createClient, memoryStorage } from '@dure/client';
import t from 'tap';
import { replace } from '../../../test/support/timers.ts';
import { caught } from './clients.ts';

let current: object | null = null;
const pushManager = {
  getSubscription: async () => current,
  async subscribe() {
    current = {
      endpoint: 'https://push.example.com/1',
      toJSON: () => ({ keys: { p256dh: 'AA', auth: 'AA' } }),
      async unsubscribe() {
        current = null;
        return true;
      },
    };
    return current;
  },
};
const registration = { pushManager };
const kept = new Map<string, string>();
const browser: Record<string, unknown> = {
  navigator: {
    serviceWorker: {
      register: async () => registration,
      ready: Promise.resolve(registration),
      getRegistration: async () => registration,
    },
  },
  Notification: { permission: 'granted', requestPermission: async () => 'granted' },
  PushManager: class {},
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  },
};
replace(t, globalThis, browser);

const respond = (data: object, status = 200) => Response.json({ message: '', data }, { status });
const saved = () => respond({ id: 7 }, 201);

/** A service with which an account is signed in. `ids` are those of its browsers. */
const service = { publicKey: 'AAAA', ids: [7], save: saved };
const storage = memoryStorage({ access: 'token', renew_at: Number.POSITIVE_INFINITY, user_id: 1 });
const dure = createClient({
  baseUrl: 'https://api.example.com',
  storage,
  retries: 0,
  async fetch(url, { method }) {
    if (method === 'POST') return service.save();
    if (/key\/$/.test(url)) return respond({ public_key: service.publicKey });
    return respond({ items: service.ids.map((id) => ({ id })), next_cursor: null });
  },
});
const { push } = dure;

t.test('a browser that the service does not take gets no push messages', async (t) => {
  t.match(await push.subscribe('/worker.js'), { id: 7 });
  t.equal(await push.status(), 'on');

  service.save = () => respond({ detail: '', code: 'limit_reached' }, 409);
  t.match(await caught(push.subscribe('/worker.js')), { name: 'ApiError', status: 409 });
  t.equal(await push.status(), 'off');
  service.save = () => {
    throw new TypeError('fetch failed');
  };
  t.match(await caught(push.subscribe('/worker.js')), { name: 'NetworkError' });
  t.equal(await push.status(), 'off');
});

t.test('push messages are off for another key and another account', async (t) => {
  service.save = saved;
  await push.subscribe('/worker.js');
  service.publicKey = 'BBBB';
  t.equal(await push.status(), 'off', 'an earlier key');
  await push.subscribe('/worker.js');
  t.equal(await push.status(), 'on');
  service.ids = [8];
  t.equal(await push.status(), 'off', 'another account, or one whose session has ended');
  service.ids = [8, 7];
  t.equal(await push.status(), 'on');
  storage.save(null);
  // Reads the tokens again.
  await dure.auth.getCurrentUser();
  t.equal(await push.status(), 'off', 'nobody');
});
