import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import t from 'tap';
import { createSessionRepository } from '../../src/domains/auth/sessions/repository.ts';
import { createImageRepository } from '../../src/domains/images/repository.ts';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { secondsUntilEdits } from '../../src/domains/stores/index.ts';
import { plannerSettings } from '../../src/infrastructure/database/client.ts';
import { rememberHere } from '../../src/infrastructure/database/own-writes.ts';
import { openReplica } from '../../src/infrastructure/database/replica.ts';
import { empty } from '../../src/infrastructure/database/sql.ts';
import { listJobs, recoverJobs, unlockJobs } from '../../src/infrastructure/jobs/jobs.ts';
import { moveExhaustedMails } from '../../src/infrastructure/mail/queue.ts';
import { createMetrics } from '../../src/infrastructure/telemetry/metrics.ts';
import { secondFactorOf } from '../auth/authenticator.ts';
import { developmentLogin } from '../auth/development-login.ts';
import { newResetLink, verifyLinkTokenIn } from '../auth/mailbox.ts';
import { passkeysOf } from '../auth/passkeys.ts';
import { pushesOf } from '../push/subscribed.ts';
import { addFailedMail, createAdmin, sendReport } from '../support/admin.ts';
import { codeIn, createTestApp, deleteAccount, logIn, verifyEmails } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { cleanUp, uploadImage } from '../support/images.ts';
import { notificationsOf, requestsPath, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { compareRowTypes, search } from './declared-rows.ts';
import { type Measure, measureStatements } from './measure.ts';
import { compareQueries } from './queries.ts';
import { requests } from './requests.ts';
import { fillWorld } from './world.ts';

/*
 * Every statement of SQL runs here, in a database with thousands of rows. The columns that PostgreSQL returns are compared with the
 * row type that the compiler believes, and what the statement touched with its budget in `prisma/queries`.
 */

const rowTypes = compareRowTypes();
const { functions, declarations, executed, problems, compare } = rowTypes;
/** Tables that do not grow: their rows are constants, or live for milliseconds. */
const small = ['store_categories', 'outbox'];
/** Which statements are measured: those of SQL, and those of Prisma's client. */
const ofPrisma = /^(SELECT|INSERT INTO|UPDATE|DELETE FROM) "public"\./;

t.test('each statement returns the columns that its row type declares', async (t) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  t.teardown(() => (Error.stackTraceLimit = stackTraceLimit));
  // The text of a statement is asked for at its place, also where Prisma sends it later.
  const places = new Map<string, string>();
  const prototypeOfSql = Object.getPrototypeOf(empty);
  const property = Object.getOwnPropertyDescriptor(prototypeOfSql, 'text');
  t.teardown(() => Object.defineProperty(prototypeOfSql, 'text', { ...property }));
  Object.defineProperty(prototypeOfSql, 'text', {
    configurable: true,
    get() {
      const text: string = property?.get?.call(this);
      const frames = new Error().stack?.match(/src\/[\w/.-]+\.ts:\d+/g) ?? [];
      const place = frames.find((frame) => functions.has(frame) && !frame.startsWith(search));
      if (place !== undefined) places.set(text, place);
      return text;
    },
  });
  const { measures, sum, clients, unnamed } = measureStatements(
    t,
    (text) => places.has(text) || ofPrisma.test(text),
    (text, result) => compare(places.get(text) ?? '', result),
  );

  const app = await createTestApp({ DATA_DIR: t.testdir() }, { isolated: true });
  const [sender, receiver] = [await openShop(app, '빵집'), await openShop(app, '카페')];
  await fillWorld(app, receiver, sender);
  // Reading all of a table that was empty is the best plan.
  for (const { scanned } of measures.values()) scanned.clear();
  const name = new URL(app.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(plannerSettings))
    await app.pool.query(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
  const pooled = { DATABASE_DIRECT_URL: app.url, WORKER_ENABLED: 'false' };
  const custom = await createTestApp(pooled, { databaseUrl: app.url });
  for (const [kind, { call }] of Object.entries({ generic: app, custom }))
    await t.test(`requests touch few pages, with ${kind} plans`, async (t) => {
      for (const [most, paths] of Object.entries(requests))
        for (const path of paths.map(encodeURI))
          for (const { token } of path.includes('notifications') ? [receiver, sender] : [receiver]) {
            Object.assign(sum, { pages: 0, rows: 0 });
            const { status, body } = await call('GET', path, { token });
            const cursor = body.data?.next_cursor;
            if (cursor)
              await call('GET', `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`, { token });
            const touched = `${decodeURI(path)}: ${status}, ${sum.pages} pages, ${sum.rows} rows`;
            t.ok(status === 200 && sum.pages > 0 && sum.pages <= Number(most), touched);
            // Rows of one user may be on few pages, however many there are.
            if (Number(most) <= 1_024) t.ok(sum.rows <= 2_500, touched);
          }
    });
  await custom.close();
  unnamed.clear();
  const admin = await createAdmin(app);
  const headers = { 'idempotency-key': 'row-types' };
  const send = (method: string, path: string, body?: object, { token }: { token: string } = receiver) =>
    app.call(method, path, { token, body, headers });
  const image = await uploadImage(app, receiver.token);
  const own = await createPost(app, receiver.token, { images: [image.url] });
  await send('POST', '/api/v1/posts/', { title: '글', content: '내용' }, admin);
  for (const _ of ['first', 'replay'])
    await send('POST', '/api/v1/stores/', { name: '가게', category_ids: [1] }, admin);
  for (const { email } of [receiver, sender]) {
    await send('POST', '/auth/email-verify/send/', { email });
    const mail = await app.mails.next(email);
    const proof =
      email === receiver.email ? { email, code: codeIn(mail) } : { token: verifyLinkTokenIn(mail) };
    await send('POST', '/auth/email-verify/confirm/', proof);
  }
  await send('PATCH', '/api/v1/notifications/preferences/', { email: { saved_search_match: true } }, sender);
  await send('POST', '/api/v1/saved-searches/', { name: '카페', category_id: 1 }, sender);
  await verifyEmails(app, sender);
  await createPost(app, receiver.token);
  await (await pushesOf(t, app)).subscribe(sender);
  await send('PATCH', '/auth/me/consents/', { marketing: true }, sender);
  await send('GET', '/auth/me/consents/', undefined, sender);
  for (let count = 0; count < 6; count++) await send('GET', '/auth/me/data/');
  await app.mails.next(sender.email, 1); // About the match, after the code.
  const id = await sendRequest(app, sender, own);
  await send('POST', requestsPath, { post_id: own.id, message: '다시' }, sender);
  await transition(app, receiver, id, 'accept');
  for (const path of [
    ...['', '?box=sent', '?status=수락됨', `${id}/`].map((query) => encodeURI(requestsPath + query)),
    ...['partners/', 'mypage/', 'me/', `${sender.store.id}/`, ''].map((rest) => `/api/v1/stores/${rest}`),
    ...['', `${own.id}/`, '?q=%EA%B8%80', '?category_id=1'].map((rest) => `/api/v1/posts/${rest}`),
    ...['unread-count/', 'preferences/'].map((rest) => `/api/v1/notifications/${rest}`),
    ...['/auth/me/', '/auth/sessions/'],
  ])
    t.equal((await send('GET', path)).status, 200, path);
  await send('GET', `${requestsPath}?box=sent`, undefined, sender);
  const [{ id: newest }] = (await notificationsOf(app, receiver)).items;
  await send('POST', '/api/v1/notifications/mark-read/', { up_to_id: newest });
  await send('PATCH', '/api/v1/notifications/preferences/', { language: 'en' });
  await send('PATCH', `/api/v1/posts/${own.id}/`, { title: '새' });
  await send('PATCH', '/api/v1/stores/me/', { name: '새 카페' });
  await sendReport(app, sender, 'posts', own.id);
  await send('PATCH', '/auth/me/consents/', { marketing: true }, sender);
  await app.pool.query(
    `INSERT INTO consents (user_id, kind, action, created_at)
     VALUES ($1, 'marketing', 'asked', now() - interval '2 years')`,
    [sender.id],
  );
  await send('DELETE', `/api/v1/posts/${own.id}/`);
  for (let download = 0; download < 6; download++) await send('GET', '/auth/me/data/', undefined, sender);
  const mail = await addFailedMail(app, sender);
  await send('POST', `/api/v1/admin/failed-mails/${mail}/retry/`, undefined, admin);
  const { finishLogin, firstFactor, confirmUser, switchOn } = secondFactorOf(app);
  const { code, recoveryCodes } = await switchOn(admin);
  await finishLogin(await firstFactor(admin), recoveryCodes[0] ?? '');
  await confirmUser(admin.token, { code: code() });
  const { finish } = await developmentLogin(
    app,
    { subject: 'row-types' },
    { purpose: 'link', token: sender.token },
  );
  t.equal((await finish()).status, 201);
  await send('GET', '/auth/identities/', undefined, sender);
  await app.app.inject('/metrics');
  const { refresh } = await logIn(app, sender);
  await send('POST', '/auth/token/refresh/', { refresh });
  const { username, password } = receiver;
  await send('POST', '/auth/login/', { username, password: `${password}?` });
  await send('POST', '/auth/change-email/', { password, new_email: 'new@example.com', code: '000000' });
  const link = await newResetLink(app, sender.email);
  await send('POST', '/auth/reset-password-confirm/', { ...link, new_password: `${password}!` });
  const passkeys = passkeysOf(app);
  const passkey = await passkeys.createOwner();
  await passkeys.logIn(passkey.authenticator);
  await passkeys.remove(passkey.token, passkey.passkey.id);
  await deleteAccount(app, receiver);

  // What runs by itself, or for the command.
  const database = openTestDatabase(t, app.url);
  const images = createImageRepository(database);
  await createSessionRepository(database, app.config.tokens).findLive([randomUUID()]);
  await createNotificationRepository(database, { wake: () => undefined }).listAfter(sender.id, 0, 10);
  await app.pool.query(`INSERT INTO images (user_id, key, state, check_after)
    SELECT ${sender.id}, 'used-' || n, 'erased', now() FROM generate_series(1, 200) n`);
  await images.insertPending(sender.id, 'rejected');
  await app.pool.query(`UPDATE users SET marketing_asked_at = '2020-01-01' WHERE id = ${sender.id}`);
  await cleanUp(app);
  await secondsUntilEdits(database, sender.id);
  await listJobs(database, { failed: false, locked: false, limit: 10 });
  await unlockJobs(database, {});
  const parts = { primary: database, ownWrites: rememberHere(), logger: pino({ enabled: false }) };
  const replica = openReplica({ url: app.url, poolSize: 1, ...parts, metrics: createMetrics() });
  t.teardown(replica.close);
  void replica.watch();
  await until('the checks', () => [...executed].filter((place) => /replica/.test(place)).length === 2);
  await moveExhaustedMails(database);
  await recoverJobs({ database, lanes: [], logger: pino({ enabled: false }), lockAge: 60_000 });
  t.strictSame([...problems], []);
  const of = (isWrong: (measure: Measure) => boolean) =>
    [...measures].filter(([, measure]) => isWrong(measure)).map(([text]) => text);
  t.strictSame(
    of(({ scanned }) => [...scanned].some((table) => !small.includes(table))),
    [],
    'sequential scans',
  );
  t.strictSame(
    of(({ partitions }) => [...partitions.values()].includes(16)),
    [],
    'partitions of all users',
  );
  t.ok(
    of(({ partitions }) => partitions.size > 0).some((text) =>
      text.startsWith('DELETE FROM "public"."users"'),
    ),
  );
  t.strictSame([...unnamed], [], 'every statement is prepared by name');
  for (const client of clients) {
    const { rows } = await client.query(
      'SELECT statement FROM pg_prepared_statements WHERE custom_plans > 0',
    );
    t.strictSame(rows, [], 'and planned once per connection');
  }
  // A connection keeps each text with its plan, up to 0.5 MiB, until it ends.
  const texts = [...measures.keys()].filter((text) => text.includes('walked')).length;
  t.ok(texts > 5 && texts <= 24, `${texts} texts for all filters of lists`);
  t.equal(database.pool.options.maxLifetimeSeconds, 3_600, 'seconds of a connection');
  await t.test('prisma/queries has each statement of the domains as it is sent', (t) =>
    compareQueries(t, rowTypes, places, measures),
  );
  t.strictSame([...executed].sort(), [...declarations.keys()].sort(), 'every row type is compared');
});
