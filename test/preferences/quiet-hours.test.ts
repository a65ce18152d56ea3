import t from 'tap';
import { quietUntil } from '../../src/domains/notifications/preferences/repository.ts';
import { koreanOffset } from '../../src/infrastructure/times.ts';
import { mailsTo } from '../auth/mailbox.ts';
import { notificationsIn, setPreferences } from '../notifications/notified.ts';
import { createTestApp, relayed } from '../support/app.ts';
import { lockRows } from '../support/concurrency.ts';
import { openTwoVerifiedShops, sendRequest, transition } from '../support/partner-requests.ts';
import type { Shop } from '../support/stores.ts';
import { until } from '../support/until.ts';

const app = await createTestApp();
const { idsOf, markRead } = notificationsIn(app);

/** A time in Korea. */
const inKorea = (time: string, day = '2026-06-15') => new Date(`${day}T${time}+09:00`);

t.test('quiet hours begin with `from` and end before `to`, on the same day or after midnight', async (t) => {
  const tuesday = '2026-06-16';
  const night = { from: '22:00', to: '08:00' };
  const noon = { from: '12:30', to: '13:00' };
  const almostAll = { from: '08:00', to: '07:59' };
  const toMidnight = { from: '21:15', to: '00:00' };
  const fromMidnight = { from: '00:00', to: '23:59' };
  const cases: [hours: typeof night | null, now: Date, until: Date | undefined][] = [
    [null, inKorea('03:00'), undefined],
    [night, inKorea('21:59:59.999'), undefined],
    [night, inKorea('22:00'), inKorea('08:00', tuesday)],
    [night, inKorea('23:59:59.999'), inKorea('08:00', tuesday)],
    [night, inKorea('00:00', tuesday), inKorea('08:00', tuesday)],
    [night, inKorea('07:59:59.999'), inKorea('08:00')],
    [night, inKorea('08:00'), undefined],
    // 9 o'clock in Korea is midnight in UTC.
    [night, inKorea('08:59:59.999'), undefined],
    [night, inKorea('09:00'), undefined],
    [noon, inKorea('12:29:59.999'), undefined],
    [noon, inKorea('12:30'), inKorea('13:00')],
    [noon, inKorea('12:59:59.999'), inKorea('13:00')],
    [noon, inKorea('13:00'), undefined],
    [almostAll, inKorea('07:58:59.999'), inKorea('07:59')],
    [almostAll, inKorea('07:59'), undefined],
    [almostAll, inKorea('08:00'), inKorea('07:59', tuesday)],
    [toMidnight, inKorea('23:59:59.999'), inKorea('00:00', tuesday)],
    [toMidnight, inKorea('00:00'), undefined],
    [fromMidnight, inKorea('00:00'), inKorea('23:59')],
    [fromMidnight, inKorea('23:59'), undefined],
    // The end of a month and of a leap day, and a year of daylight saving time in Europe and America.
    [night, inKorea('23:30', '2026-12-31'), inKorea('08:00', '2027-01-01')],
    [night, inKorea('22:00', '2028-02-29'), inKorea('08:00', '2028-03-01')],
    [night, inKorea('01:30', '2026-03-29'), inKorea('08:00', '2026-03-29')],
  ];
  for (const [hours, now, until] of cases) {
    const what = `${hours?.from}-${hours?.to} at ${now.toISOString()}`;
    t.strictSame(quietUntil(now, hours)?.toISOString(), until?.toISOString(), what);
  }
});

/** Quiet hours from and to so many minutes from now. */
function hoursAround(from: number, to: number) {
  const inMinutes = (minutes: number) =>
    new Date(Date.now() + koreanOffset + minutes * 60_000).toISOString().slice(11, 16);
  return { from: inMinutes(from), to: inMinutes(to) };
}

/** Changes quiet hours; then workers look for jobs, which they else do every two seconds. */
async function setHours(account: Shop, hours: ReturnType<typeof hoursAround> | null) {
  await setPreferences(app, account, { quiet_hours: hours });
  await app.pool.query('NOTIFY "jobs:insert"');
}

/** The jobs of emails to a user. */
async function jobsOf({ id }: Shop) {
  await relayed(app);
  const { rows } = await app.pool.query(
    `SELECT id, run_at AS "runAt", attempts, max_attempts AS "maxAttempts", priority,
       last_error AS error, payload->>'idempotency_key' AS key, locked_at IS NULL AND run_at > now() AS "isWaiting"
     FROM graphile_worker._private_jobs WHERE payload->>'user_id' = $1`,
    [id],
  );
  return rows;
}

/** Waits until so many emails to a user wait, and no other is in the queue. @returns their jobs */
const waitingFor = (user: Shop, count = 1) =>
  until(`${count} waiting emails`, async () => {
    const jobs = await jobsOf(user);
    return jobs.length === count && jobs.every(({ isWaiting }) => isWaiting) ? jobs : undefined;
  });

/** The subjects of the emails about partnerships to a user so far, without what they begin with. */
const subjectsTo = async ({ email }: Shop) =>
  (await mailsTo(app, email)).map(({ subject }) => /제휴.*(요청|수락|거절|종료)/.exec(subject)?.[1]);

t.test('emails about partnerships wait for the end of quiet hours, codes and notices do not', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const hours = hoursAround(-60, 60);
  await setHours(receiver, hours);
  await sendRequest(app, sender, post);
  const [job] = await waitingFor(receiver);
  t.match(job, { attempts: 0, maxAttempts: 25, priority: 0, runAt: quietUntil(new Date(), hours) });
  const body = { current_password: receiver.password, new_password: 'rice-cake-at-dawn-3' };
  await app.call('POST', '/auth/change-password/', { token: receiver.token, body });
  t.match((await app.mails.next(receiver.email)).subject, '비밀번호가 변경');
  await app.call('POST', '/auth/reset-password-request/', { body: { email: receiver.email } });
  await app.mails.next(receiver.email, 1);

  // They begin later, or not at all: within hours that still last it waits again, at the same place.
  await setHours(receiver, hoursAround(-30, 90));
  await until('another job', async () => (await waitingFor(receiver))[0]?.id !== job?.id);
  t.match(await waitingFor(receiver), [{ key: job?.key, attempts: 0, maxAttempts: 25 }]);
  await setHours(receiver, hoursAround(-120, -60));
  t.strictSame(await subjectsTo(receiver), [undefined, undefined, '요청']);
  t.equal((await mailsTo(app, receiver.email)).at(-1)?.idempotencyKey, job?.key);
});

t.test('what was read while it waited is not sent', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await setHours(sender, hoursAround(-60, 60));
  const answers = ['decline', 'decline', 'accept'] as const;
  for (const [index, action] of answers.entries()) {
    const id = await sendRequest(app, sender, post);
    await transition(app, receiver, id, action);
    if (index === 0) await markRead(sender, { ids: (await idsOf(sender)).slice(0, 1) });
    if (action === 'accept') {
      await waitingFor(sender, 3);
      await transition(app, receiver, id, 'end');
    }
  }
  await waitingFor(sender, 4);
  await setHours(sender, null);
  t.strictSame((await subjectsTo(sender)).sort(), ['거절', '수락', '종료']);
});

t.test('an email whose worker died after it had made the email wait is sent once', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await setHours(receiver, hoursAround(-60, 60));
  await sendRequest(app, sender, post);
  const [job] = await waitingFor(receiver);
  // The job that was running is still there.
  await app.pool.query(
    `INSERT INTO graphile_worker._private_jobs (id, task_id, payload, max_attempts) OVERRIDING SYSTEM VALUE
     SELECT split_part(key, ':', 3)::bigint, task_id, (payload::jsonb - 'is_deferred')::json, max_attempts
     FROM graphile_worker._private_jobs WHERE id = $1`,
    [job?.id],
  );
  await app.pool.query('NOTIFY "jobs:insert"');
  t.match(await waitingFor(receiver), [{ id: job?.id, key: job?.key }]);
  await setHours(receiver, null);
  t.strictSame(await subjectsTo(receiver), ['요청']);
});

t.test('a change of quiet hours while an email is made to wait reaches it, in either order', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const end = 'UPDATE users SET quiet_from = NULL, quiet_to = NULL WHERE id = $1';
  for (const isFirst of [true, false]) {
    await setHours(receiver, hoursAround(-60, 60));
    const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [receiver.id]);
    const id = await sendRequest(app, sender, post);
    await lock.waiters(1);
    const change = isFirst ? lock.run(end, [receiver.id]) : setHours(receiver, null);
    await lock.waiters(isFirst ? 1 : 2);
    await lock.release('COMMIT');
    await change;
    if (isFirst) {
      await until('an attempt that failed', async () => {
        const [job] = await jobsOf(receiver);
        // Without a job, the next attempt has sent it.
        return !job || job.error;
      });
      const ofReceiver = `payload->>'user_id' = '${receiver.id}'`;
      await app.pool.query(`UPDATE graphile_worker._private_jobs SET run_at = now() WHERE ${ofReceiver}`);
      await app.pool.query('NOTIFY "jobs:insert"');
    }
    t.equal((await subjectsTo(receiver)).length, isFirst ? 1 : 2);
    await transition(app, receiver, id, 'decline');
  }
});
