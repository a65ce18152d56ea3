import t from 'tap';
import { MailRejectedError, RateLimitedError } from '../../../src/infrastructure/mail/transport.ts';
import { code, composers, hang, sendsAtOnce, setUp, token } from '../../mail/worker-setup.ts';
import { gate } from '../../support/concurrency.ts';
import { until } from '../../support/until.ts';

const fetchFailed = () => {
  throw new Error('fetch failed');
};

t.test('an email is sent once, soon after its transaction is committed', async (t) => {
  const { database, queue, add, queueIsEmpty, start } = await setUp(t);
  const { sent } = start();
  const rolledBack = database.transaction(async (tx) => {
    await queue.add(tx, 'code', { id: 1 });
    throw new Error('rolled back');
  });
  await t.rejects(rolledBack, { message: 'rolled back' });
  await sendsAtOnce(t, sent, add);
  sent.length = 0;
  let isAdded = false;
  const committed = database.transaction(async (tx) => {
    await queue.add(tx, 'code', { id: 7 });
    isAdded = true;
    await until('the other email', () => sent.length === 1);
  });
  await until('an uncommitted email', () => isAdded);
  await add('code', { id: 8 });
  await committed;
  await queueIsEmpty();
  const recipients = sent.map(({ to }) => to);
  t.same(recipients, ['user8@example.com', 'user7@example.com'], 'not before the commit');
  t.match(sent[1], { text: code, idempotencyKey: /^[0-9a-f-]{36}$/ });
  t.not(sent[0]?.idempotencyKey, sent[1]?.idempotencyKey, 'each has a key of its own');
});

t.test('while the provider is down an email waits, and is retried unchanged', async (t) => {
  const { add, jobs, queueIsEmpty, makeDue, start, logLines, failedMails, attemptFailed } = await setUp(t);
  let down = true;
  const { sent } = start({
    send() {
      if (down) fetchFailed();
    },
  });
  await add('code');
  await attemptFailed();
  const [job] = await jobs();
  t.equal(job.max_attempts, 25);
  t.notMatch(JSON.stringify(await jobs()), code, 'the code is not in the queue');
  const reported = logLines.filter(({ msg }) => msg === 'job failed');
  t.match(reported[0], { level: 40, payload: { kind: 'code' }, attempts: 1, reason: 'fetch failed' });
  t.notMatch(JSON.stringify(logLines), new RegExp(`${code}|"stack"`), 'neither code nor stack in the log');

  await until('another attempt, seconds later', () => sent.length > 1);
  down = false;
  await makeDue();
  await queueIsEmpty();
  for (const mail of sent) t.same(mail, sent[0], 'the same text under the same key');
  t.same(await failedMails(), []);
});

t.test('a provider that does not respond has a limit, and is tried again', async (t) => {
  const { add, jobs, makeDue, start, attemptFailed } = await setUp(t);
  let hanging = true;
  await add('code');
  await makeDue(20);
  const { sent } = start({ send: () => (hanging ? hang() : undefined), attemptLimit: 3_000 });
  await attemptFailed();
  const [job] = await jobs();
  t.match(job, { last_error: 'not sent within 3000 ms', locked_by: null });
  const hours = (job.run_at.getTime() - Date.now()) / 3_600_000;
  t.ok(hours > 5 && hours < 7, `the last attempts are hours apart: ${hours}`);
  hanging = false;
  // More than once: an attempt that is paused for so long has failed, too.
  await until('it is sent', async () => {
    await makeDue();
    return (await jobs()).length === 0;
  });
  t.same(sent[1], sent[0]);
});

t.test('an email that cannot be composed is composed later, and not sent after its limit', async (t) => {
  const { add, jobs, start, makeDue, queueIsEmpty, logLines, attemptFailed } = await setUp(t);
  const expired = gate();
  let attempts = 0;
  const { sent } = start({
    attemptLimit: 3_000,
    composers: {
      async code(payload) {
        attempts += 1;
        if (attempts === 1) throw new Error('Connection terminated unexpectedly');
        if (attempts === 2) await expired.opened;
        return (await composers.code?.(payload)) ?? null;
      },
    },
  });
  await add('code');
  await attemptFailed();
  await makeDue();
  await until('the limit', async () => (await jobs())[0]?.last_error === 'not sent within 3000 ms');
  expired.open();
  await makeDue();
  await queueIsEmpty();
  t.equal(sent.length, 1, 'by the last attempt only');
  t.equal(logLines.filter(({ msg }) => msg === 'mail sent').length, 1);
});

t.test('a limit of the provider pauses all instances and uses up no attempt', async (t) => {
  const { database, add, jobs, makeDue, start, queueIsEmpty, logLines, failedMails } = await setUp(t);
  let isLimited = true;
  const send = () => {
    if (isLimited) throw new RateLimitedError('429', '600');
  };
  await add('code', { id: 1 });
  await makeDue(24);
  const [one, other] = [start({ send }), start({ send })];
  const attempts = () => [...one.sent, ...other.sent].map(({ to }) => to.charAt(4));
  const held = () =>
    until('the email waits', async () =>
      (await jobs()).find(({ payload, locked_by }) => payload.id === 1 && locked_by === null),
    );
  await until('the pause', async () => (await jobs()).some(({ key }) => key === 'mail_pause'));
  t.match(await held(), { attempts: 0, max_attempts: 1, locked_by: null }, 'its last attempt is left');
  await add('code', { id: 2 });
  await database.pool.query(`SELECT graphile_worker.add_job('clean_up')`);
  await until('other jobs run', async () => (await jobs()).every(({ payload, key }) => payload.kind || key));
  const before = attempts();
  t.notOk(before.includes('2'), 'emails are not sent');
  t.notOk(logLines.some(({ msg }) => msg === 'job failed'));
  isLimited = false;
  await makeDue();
  await queueIsEmpty();
  t.same(attempts().sort(), [...before, '1', '2'].sort());
  t.same(await failedMails(), []);
});

t.test('a rejected mail is kept with its reason and not retried', async (t) => {
  const { add, queueIsEmpty, start, logLines, failedMails, errors } = await setUp(t);
  const { sent } = start({
    send() {
      throw new MailRejectedError('field "to" is not valid');
    },
  });
  await add('code', { id: 7 });
  await add('link', { id: 8 });
  await queueIsEmpty();
  t.equal(sent.length, 2);
  const failed = await failedMails();
  t.match(failed, [
    { kind: 'code', payload: { id: 7 }, attempts: 1, reason: 'field "to" is not valid' },
    { kind: 'link', payload: { id: 8 }, attempts: 1, reason: 'field "to" is not valid' },
  ]);
  for (const secret of [code, token]) {
    t.notMatch(JSON.stringify([failed, logLines]), secret, 'nothing of the email is stored or logged');
  }
  t.match(errors(), [{ attempts: 1 }, { attempts: 1 }]);
});

t.test('an email of an unknown kind is kept, an obsolete one is dropped', async (t) => {
  const { add, queueIsEmpty, start, failedMails } = await setUp(t);
  const { sent } = start();
  await add('constructor', { id: 3 });
  await add('obsolete');
  await queueIsEmpty();
  t.equal(sent.length, 0);
  const reason = 'there is no such kind of email';
  t.same(await failedMails(), [{ kind: 'constructor', payload: { id: 3 }, reason, attempts: 1 }]);
});

t.test('an email without an attempt left is kept, unless its account is gone', async (t) => {
  const { add, jobs, makeDue, start, failedMails, errors } = await setUp(t);
  await add('code', { id: 7, user_id: 4711 });
  await add('code', { id: 8 });
  await makeDue(24);
  const { sent } = start({ send: fetchFailed });
  await until('the last attempts are over', async () => (await jobs()).length === 0);
  t.same(await failedMails(), [{ kind: 'code', payload: { id: 8 }, reason: 'fetch failed', attempts: 25 }]);
  t.equal(sent.length, 2);
  await until('the line about it', () => errors().length > 0);
  t.match(errors(), [{ kind: 'code', attempts: 25, reason: 'fetch failed' }]);
  t.equal(errors().length, 1);
});

t.test('two workers send each email once', async (t) => {
  const { database, queue, queueIsEmpty, start } = await setUp(t);
  /** The first emails wait until each worker has one. */
  const send = async () => {
    await until('emails of both workers', () => workers.every(({ sent }) => sent.length > 0));
  };
  const workers = [start({ send }), start({ send })];
  await database.transaction(async (tx) => {
    for (let id = 0; id < 60; id++) await queue.add(tx, 'code', { id });
  });
  await queueIsEmpty();
  const recipients = workers.flatMap(({ sent }) => sent.map(({ to }) => to));
  t.equal(recipients.length, 60);
  t.equal(new Set(recipients).size, 60);
  for (const { sent } of workers) t.ok(sent.length > 0, `${sent.length} of them`);
});
