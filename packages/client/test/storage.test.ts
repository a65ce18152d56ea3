import { browserStorage, memoryStorage, type TokenStorage, type Tokens } from '@dure/client';
import t from 'tap';
import { password } from '../../../test/support/app.ts';
import { gate } from '../../../test/support/concurrency.ts';
import { until } from '../../../test/support/until.ts';
import { caught, createClient, signedIn, startService } from './clients.ts';

const service = await startService(t);
const { baseUrl } = service;

t.test('a storage may answer later, and another program may change it', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage(await one.storage.load());
  const listeners = new Set<() => void>();
  const storage: TokenStorage = {
    load: async () => kept.load(),
    save: async (tokens) => kept.save(tokens),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const reasons: string[] = [];
  const dure = createClient({ baseUrl, storage, onSignedOut: (reason) => reasons.push(reason) });
  t.equal(dure.isSignedIn(), false);
  await dure.ready;
  t.equal(dure.isSignedIn(), true);
  t.equal((await dure.auth.getCurrentUser()).id, one.user.id);
  kept.save(null);
  for (const listener of listeners) listener();
  await until('a sign-out', () => !dure.isSignedIn());
  t.same(reasons, ['elsewhere']);
});

t.test('a login in another tab does not bring back the user of an earlier login', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage();
  let [isFull, changed] = [false, () => {}];
  const storage: TokenStorage = {
    load: () => kept.load(),
    save(tokens) {
      if (isFull) throw new Error('the disk is full');
      return kept.save(tokens);
    },
    subscribe(listener) {
      changed = listener;
      return () => undefined;
    },
  };
  const dure = createClient({ baseUrl, storage });
  const logIn = () => dure.auth.logIn({ username: one.username, password });
  const elsewhere = async (tokens: Tokens | null) => {
    await kept.save(tokens);
    changed();
    await until('the change', () => dure.userId() === (tokens?.user_id ?? null));
  };
  await logIn();
  t.equal(dure.session.user?.id, one.user.id);
  const tokens = await kept.load();
  await elsewhere(null);
  await elsewhere(tokens);
  t.equal(dure.userId(), one.user.id);
  t.equal(dure.session.user, undefined);

  await elsewhere(null);
  isFull = true;
  t.match(await caught(logIn()), { message: 'the disk is full' });
  await elsewhere(tokens);
  t.equal(dure.session.user, undefined, 'nor one whose tokens could not be stored');
});

t.test('a changed user reaches the other tabs', async (t) => {
  const one = await signedIn(service);
  const name = `tabs-${one.user.id}`;
  const tab = async () => {
    const dure = createClient({ baseUrl, storage: { ...memoryStorage(await one.storage.load()), name } });
    const events: string[] = [];
    await dure.ready;
    dure.onAuthChange(({ event, user }) => events.push(`${event} ${user?.name}`));
    return { dure, events };
  };
  const [here, there] = [await tab(), await tab()];
  await here.dure.auth.updateCurrentUser({ name: '새 이름' });
  await until('the change', () => there.events.length === 2);
  await there.dure.auth.getCurrentUser();
  await there.dure.auth.updateCurrentUser({ name: '또 다른 이름' });
  await until('the change back', () => here.events.length === 3);
  t.same(here.events, ['initial undefined', 'user_updated 새 이름', 'user_updated 또 다른 이름']);
  t.same(there.events, here.events, 'each once');
  t.equal(here.dure.session.user?.name, '또 다른 이름');
});

t.test('a login while the storage is read is not taken for a sign-out', async (t) => {
  const one = await signedIn(service);
  const kept = memoryStorage();
  const { open, opened } = gate();
  let isHeld = false;
  const storage: TokenStorage = {
    async load() {
      const tokens = await kept.load();
      if (isHeld) await opened;
      return tokens;
    },
    save: (tokens) => kept.save(tokens),
  };
  const changes: unknown[] = [];
  const dure = createClient({ baseUrl, storage });
  await dure.ready;
  dure.onAuthChange(({ signedIn }) => changes.push(signedIn));
  isHeld = true;
  const call = dure.auth.getCurrentUser();
  await dure.auth.logIn({ username: one.username, password });
  isHeld = false;
  open();
  t.equal((await call).id, one.user.id);
  t.same(changes, [false, true]);
  t.equal(dure.isSignedIn(), true);
});

t.test('the storage of browsers is rejected elsewhere, where all users would share it', async (t) => {
  t.throws(() => browserStorage(), { name: 'TypeError', message: /accessToken/ });
  t.throws(() => createClient({ baseUrl, tokens: 'cookie' }), { name: 'TypeError' });
});

t.test('a storage that fails rejects the call and nothing else', async (t) => {
  const storage: TokenStorage = {
    load: () => Promise.reject(new Error('the disk is full')),
    save: () => undefined,
  };
  const dure = createClient({ baseUrl, storage });
  t.match(await caught(dure.auth.getCurrentUser()), { message: 'the disk is full' });
  t.match(await caught(dure.ready), { message: 'the disk is full' });
  t.ok((await dure.stores.listCategories()).items.length > 0, 'operations without a token work');
});

t.test('what another version of the app sends to this tab is ignored', async (t) => {
  const { user, storage } = await signedIn(service);
  const dure = createClient({ baseUrl, storage: { ...storage, name: 'shared' } });
  await dure.auth.getCurrentUser();
  const tab = new BroadcastChannel('shared.user');
  t.teardown(() => tab.close());
  for (const message of [null, 'text', { name: '이름' }]) tab.postMessage(message);
  tab.postMessage({ ...dure.session.user, name: '새 이름' });
  await until('the user', () => dure.session.user?.name === '새 이름');
  t.equal(dure.session.user?.id, user.id);
});
