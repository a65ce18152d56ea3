import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { createSessionRepository } from '../../src/domains/auth/sessions/repository.ts';
import { createImageRepository } from '../../src/domains/images/repository.ts';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { openStoreOf } from '../../src/domains/stores/index.ts';
import { plannerSettings } from '../../src/infrastructure/database/client.ts';
import { secondsUntilNext } from '../../src/infrastructure/database/daily-quota.ts';
import { rememberHere } from '../../src/infrastructure/database/own-writes.ts';
import { openReplica } from '../../src/infrastructure/database/replica.ts';
import { listJobs, recoverJobs, unlockJobs } from '../../src/infrastructure/jobs/jobs.ts';
import { moveExhaustedMails, pauseMails } from '../../src/infrastructure/mail/queue.ts';
import { createMetrics } from '../../src/infrastructure/telemetry/metrics.ts';
import { tellStory } from '../openapi/story.ts';
import { createTestApp, deleteAccount, verifyEmails } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { readText, root } from '../support/files.ts';
import { cleanUp, uploadImage } from '../support/images.ts';
import { notificationsOf } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { type Measure, measureStatements, nameOf } from './measure.ts';
import { compareQueries } from './queries.ts';
import { requests } from './requests.ts';
import { fillWorld } from './world.ts';

/*
 * Every statement runs here, in a database with thousands of rows: what it returned and touched is compared with `prisma/queries`.
 */

/** Tables that do not grow: their rows are constants, or live for milliseconds. */
const small = ['store_categories', 'outbox'];

const source = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.includes('generated'))
  .map((file) => ({ file, text: readText(`src/${file}`) }));
const namesIn = (text: string) => [...text.matchAll(/\/\* ([\w-]+\.\w+) \*\//g)].map(([, name = '']) => name);

t.test('each statement in the source begins with its name, which begins with its domain', async (t) => {
  for (const { file, text } of source) {
    const [, domain] = /^domains\/([\w-]+)\//.exec(file) ?? [];
    t.strictSame(text.match(/\.(query|execute)(<[^`]*>)?\(\s*sql`(?!\s*\/\* )/g), null, file);
    if (domain)
      t.strictSame(
        namesIn(text).filter((name) => !name.startsWith(`${domain}.`)),
        [],
        file,
      );
  }
});

t.test('each statement touches what its budget allows', async (t) => {
  // Its tokens and confirmations are used until the end.
  const settings = { WORKER_ENABLED: 'false', ACCESS_TOKEN_TTL: '1d' };
  const first = await createTestApp(settings, { isolated: true });
  const [sender, receiver] = [await openShop(first, '빵집'), await openShop(first, '카페')];
  await fillWorld(first, receiver, sender);
  await first.close();
  // Now, because reading all of a table that is empty is the best plan.
  const { measures, sum, clients, unprepared, unnamed } = measureStatements(t);
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: first.url });
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
  unprepared.clear();
  const { app: teller } = await tellStory(t, { main: app.url });
  const send = (method: string, path: string, body: object, { token }: { token: string }) =>
    teller.call(method, path, { token, body, headers: { 'idempotency-key': 'statements' } });
  const ran = (name: string) => until(name, () => [...measures.keys()].some((text) => nameOf(text) === name));

  // What the story does not tell.
  const preferences = '/api/v1/notifications/preferences/';
  await send('PATCH', preferences, { email: { saved_search_match: true } }, sender);
  await send('POST', '/api/v1/saved-searches/', { name: '카페', category_id: 1 }, sender);
  await send('PATCH', '/auth/me/consents/', { marketing: true }, sender);
  await verifyEmails(teller, sender);
  const { url } = await uploadImage(teller, receiver.token);
  for (const _ of ['first', 'replay'])
    await send('POST', '/api/v1/posts/', { title: '글', content: '내용', images: [url] }, receiver);
  await ran('saved-searches.findMatch');
  await app.pool.query(`UPDATE users SET quiet_from = to_char(now() AT TIME ZONE 'Asia/Seoul' - interval '1 hour', 'HH24:MI'),
    quiet_to = to_char(now() AT TIME ZONE 'Asia/Seoul' + interval '1 hour', 'HH24:MI') WHERE id = ${sender.id}`);
  const post = await createPost(teller, receiver.token);
  await ran('notifications.defer');
  await send('PATCH', preferences, { quiet_hours: null }, sender);
  await teller.app.inject('/metrics');
  // By the users with the most rows.
  const [{ id: newest }] = (await notificationsOf(teller, receiver)).items;
  await send('POST', '/api/v1/notifications/mark-read/', { up_to_id: newest }, receiver);
  await app.pool.query('UPDATE sessions SET confirmed_at = now()');
  for (const name of ['새 카페', '새 가게']) await send('PATCH', '/api/v1/stores/me/', { name }, receiver);
  for (const _ of ['first', 'second'])
    for (const { token } of [receiver, sender]) await teller.call('GET', '/auth/me/data/', { token });
  await teller.call('DELETE', `/api/v1/posts/${post.id}/`, { token: receiver.token });
  await deleteAccount(teller, receiver);

  // What runs by itself, or for the command.
  const database = openTestDatabase(t, app.url);
  const images = createImageRepository(database);
  const { findLive, endReused } = createSessionRepository(database, app.config.tokens);
  await findLive([randomUUID()]);
  await endReused({ userId: sender.id, sessionId: randomUUID(), count: 0 });
  await createNotificationRepository(database, { wake: () => undefined }).listAfter(sender.id, 0, 10);
  await app.pool.query(`INSERT INTO images (user_id, key, state, check_after)
    SELECT ${sender.id}, 'used-' || n, CASE n WHEN 1 THEN 'pending' ELSE 'deleted' END::image_state, now()
    FROM generate_series(1, 200) n`);
  await app.pool.query(
    `INSERT INTO daily_counts (kind, owner_id, count) VALUES ('image', ${sender.id}, 200)`,
  );
  await images.insertPending(sender.id, 'rejected');
  await app.pool.query(`UPDATE users SET marketing_asked_at = '2020-01-01' WHERE id = ${sender.id}`);
  await cleanUp(app);
  await secondsUntilNext(database, 'edit', openStoreOf(sender.id));
  await listJobs(database, { failed: false, locked: false, limit: 10 });
  await unlockJobs(database, {});
  const parts = { primary: database, ownWrites: rememberHere(), logger: pino({ enabled: false }) };
  const replica = openReplica({ url: app.url, poolSize: 1, ...parts, metrics: createMetrics() });
  t.teardown(replica.close);
  void replica.watch();
  await ran('replica.position');
  await moveExhaustedMails(database);
  await pauseMails(database, 0);
  await recoverJobs({ database, lanes: [], logger: pino({ enabled: false }), lockAge: 60_000 });
  const none = (found: unknown[], what: string) => t.strictSame(found, [], what);
  const of = (isOne: (measure: Measure) => boolean) =>
    [...measures].filter(([, measure]) => isOne(measure)).map(([text]) => text);
  const isLarge = (table: string) => !small.includes(table);
  none(
    of(({ scanned }) => [...scanned].some(isLarge)),
    'sequential scans',
  );
  none(
    of(({ partitions }) => [...partitions.values()].includes(16)),
    'partitions of all users',
  );
  const ofPartitions = of(({ partitions }) => partitions.size > 0);
  t.ok(ofPartitions.some((text) => text.startsWith('DELETE FROM "public"."users"')));
  none([...unprepared], 'every statement is prepared by name');
  const replanned = 'SELECT statement FROM pg_prepared_statements WHERE custom_plans > 0';
  for (const client of clients) none((await client.query(replanned)).rows, 'and planned once per connection');
  // A connection keeps each text with its plan, up to 0.5 MiB, until it ends.
  const texts = [...measures.keys()].filter((text) => text.includes('walked')).length;
  t.ok(texts > 5 && texts <= 24, `${texts} texts for all filters of lists`);
  t.equal(database.pool.options.maxLifetimeSeconds, 3_600, 'seconds of a connection');
  const executed = new Set([...measures.keys()].map(nameOf));
  none(
    source.flatMap(({ text }) => namesIn(text)).filter((name) => !executed.has(name)),
    'every statement is measured',
  );
  none([...unnamed], 'every statement has a name');
  const ofTypes = 'SELECT oid::int, format_type(oid, NULL) AS name FROM pg_type';
  const { rows: types } = await app.pool.query(ofTypes);
  await t.test('prisma/queries has each statement of the domains as it is sent', (t) =>
    compareQueries(t, measures, new Map(types.map(({ oid, name }) => [oid, name]))),
  );
});
