import t from 'tap';
import { streamPath } from '../../../../test/notifications/streams.ts';
import { password } from '../../../../test/support/app.ts';
import { replace } from '../../../../test/support/timers.ts';
import { until } from '../../../../test/support/until.ts';
import { badGateway, createClient, createPair } from '../clients.ts';
import { quick, record, startLive, storedIds } from './live.ts';

const listPath = '/api/v1/notifications/mypage/';
const { service, openPair } = await startLive(t);

t.test('notifications and counts arrive', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const live = record(t, receiver.dure);
  const other = record(t, receiver.dure);
  await until('the first count', () => live.counts.length === 1);
  t.same(live.statuses, ['connecting', 'open']);
  await notify();
  await until('a notification', () => live.ids.length === 1 && live.counts.at(-1) === 1);
  t.match(live.seen, [{ kind: 'partner_request_received', is_read: false }]);
  await receiver.dure.notifications.markRead({ ids: live.ids });
  await until('the count', () => live.counts.at(-1) === 0);
  t.equal(receiver.wire.to(streamPath).length, 1, 'two subscriptions have one stream');
  live.stop();
  await notify();
  await until('the other subscription', () => other.ids.length === 2);
  t.equal(live.ids.length, 1);
});

t.test('`after` of a later subscription counts for that one alone', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  await notify(3);
  const stored = await storedIds(receiver);
  // Both before there is a connection: neither begins where the other one does.
  const fromNow = record(t, receiver.dure);
  const fromStart = record(t, receiver.dure, { after: 0 });
  await until('what was missed', () => fromStart.ids.length === 3);
  // While there is one, with notifications that arrive while the missed ones are read.
  const late = record(t, receiver.dure, { after: stored[0] });
  await notify(2);
  await until('both everywhere', () =>
    [fromNow, fromStart, late].every(({ ids }, index) => ids.length >= ([2, 5, 4][index] ?? 0)),
  );
  const all = await storedIds(receiver);
  t.same(fromStart.ids, all);
  t.same(late.ids, all.slice(1));
  t.same(fromNow.ids, all.slice(3));
  t.equal(receiver.wire.to(streamPath).length, 1);
});

t.test('a subscription that cannot read what it missed does not hold the others up', async (t) => {
  const { receiver, notify, live } = await openPair(t);
  await notify(2);
  await until('both', () => live.ids.length === 2);
  receiver.wire.before = ({ path }) => (path.startsWith(listPath) ? badGateway(500) : undefined);
  const behind = record(t, receiver.dure, { after: 0 });
  await until('an attempt', () => receiver.wire.to(listPath).length > 0);
  await notify();
  await until('the third', () => live.ids.length === 3);
  t.same(behind.ids, []);
  receiver.wire.before = () => undefined;
  await until('all', () => behind.ids.length === 3);
  t.same(behind.ids, live.ids);
});

t.test('`after` is about the account that was signed in', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const other = await createPair(service);
  await notify();
  await other.notify(2);
  // The first account signs out before its subscription has read anything.
  receiver.wire.before = ({ path }) => (path.startsWith(listPath) ? badGateway(500) : undefined);
  const live = record(t, receiver.dure, { after: 0 });
  await until('an attempt', () => receiver.wire.to(listPath).length > 0);
  await receiver.dure.auth.logOut();
  receiver.wire.before = () => undefined;
  const fromStart = record(t, receiver.dure, { after: 0 });
  await receiver.dure.auth.logIn({ username: other.receiver.username, password });
  await until('those of the other account', () => fromStart.ids.length === 2);
  await other.notify();
  await until('a new one', () => live.ids.length > 0 && fromStart.ids.length === 3);
  const all = await storedIds(other.receiver);
  t.same(fromStart.ids, all);
  t.same(live.ids, all.slice(-1));
});

t.test('a stream ends with the session and begins with the next one, also of another account', async (t) => {
  const { receiver, notify, live } = await openPair(t);
  await receiver.dure.auth.logOut();
  await until('the end', () => live.statuses.at(-1) === 'closed');
  const streams = receiver.wire.to(streamPath).length;
  await notify();
  await receiver.dure.auth.logIn({ username: receiver.username, password });
  await until('a stream', () => live.statuses.at(-1) === 'open');
  t.equal(receiver.wire.to(streamPath).length, streams + 1);
  await until('what was missed', () => live.ids.length === 1);

  const two = await createPair(service);
  await two.notify(2);
  await receiver.dure.auth.logIn({ username: two.receiver.username, password });
  await until('the count of the other account', () => live.counts.at(-1) === 2);
  t.equal(live.ids.length, 1, 'old notifications of the other account are not new');
  await two.notify();
  await until('a notification of the other account', () => live.ids.length === 2);
  t.equal(live.ids[1], (await storedIds(two.receiver)).at(-1));
});

t.test('a session that the server ends closes the stream and signs out', async (t) => {
  const reasons: string[] = [];
  const { receiver, live } = await openPair(t, { onSignedOut: (reason) => reasons.push(reason) });
  const other = createClient({ baseUrl: service.baseUrl });
  await other.auth.logIn({ username: receiver.username, password });
  await other.auth.endOtherSessions();
  await until('the end', () => live.statuses.at(-1) === 'closed');
  t.same(reasons, ['revoked']);
});

t.test('another language begins another stream, which goes on after the last notification', async (t) => {
  const { receiver, notify, live } = await openPair(t, { language: 'ko' });
  await notify();
  await until('a notification', () => live.seen.length === 1);
  receiver.dure.setLanguage('en');
  await notify();
  await until('one more', () => live.seen.length === 2);
  t.match(live.seen, [{ message: /요청했습니다/ }, { message: /withdrew|withdrawn/i }]);
  const [first, second] = receiver.wire.to(streamPath).map(({ headers }) => headers);
  t.equal(first?.get('accept-language'), 'ko');
  t.equal(second?.get('accept-language'), 'en');
  t.equal(second?.get('last-event-id'), String(live.ids[0]));
});

t.test('headers of the app go with the stream, but for those that it needs', async (t) => {
  const headers = { accept: 'application/json', 'accept-language': 'en', 'x-client-info': 'app/1' };
  const { receiver } = await openPair(t, { headers, language: 'ko' });
  const sent = receiver.wire.to(streamPath)[0]?.headers;
  t.equal(sent?.get('accept'), 'text/event-stream');
  t.equal(sent?.get('accept-language'), 'en');
  t.equal(sent?.get('x-client-info'), 'app/1');
});

t.test('an error of a listener ends neither the stream nor other listeners', async (t) => {
  const { receiver, notify } = await createPair(service, { streamTimes: quick });
  const uncaught: unknown[] = [];
  // tap listens, too.
  const queueMicrotask = (run: () => void) =>
    void Promise.resolve()
      .then(run)
      .catch((error: unknown) => uncaught.push(error));
  replace(t, globalThis, { queueMicrotask });
  t.teardown(
    receiver.dure.notifications.subscribe({
      onNotification() {
        throw new Error('of the app');
      },
    }),
  );
  t.teardown(
    receiver.dure.notifications.subscribe({
      async onNotification({ id }) {
        await receiver.dure.notifications.markRead({ ids: [id] });
        throw new Error('of the app, later');
      },
    }),
  );
  const live = record(t, receiver.dure);
  await until('a stream', () => live.statuses.includes('open'));
  await notify(2);
  await until('both', () => live.ids.length === 2 && uncaught.length === 4);
  const messages = uncaught.map((error) => error instanceof Error && error.message);
  t.same(messages.sort(), ['of the app', 'of the app', 'of the app, later', 'of the app, later']);
});
