import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { createNotifier, createPair, storedIds } from '../../notifications/streams.ts';
import { tellStory } from '../../openapi/story.ts';
import { createTestApp, deleteAccount, type TestApp } from '../../support/app.ts';
import { unavailable } from '../../support/assertions.ts';
import { readText } from '../../support/files.ts';
import { cleanUp } from '../../support/images.ts';
import { notificationsOf, requestPartnership, sendRequest } from '../../support/partner-requests.ts';
import { createPost } from '../../support/stores.ts';
import { until } from '../../support/until.ts';
import { startCitus, withoutCitus } from './citus-cluster.ts';

t.test('on a Citus cluster', { skip: withoutCitus }, async (t) => {
  const { workers, createDatabase } = await startCitus(t);
  const quotas = { QUOTA_REQUESTS_PER_DAY: '0', NOTIFICATION_TTL: '30d' };

  await t.test('every operation responds as on one server', async (t) => {
    const databases = { main: await createDatabase('story'), terms: await createDatabase('terms') };
    const { examples, app } = await tellStory(t, databases);
    const documented = JSON.parse(readText(join('src/openapi/examples.json')));
    t.equal(Object.keys(examples).length, Object.keys(documented).length);
    for (const [operation, example] of Object.entries(documented)) t.strictSame(examples[operation], example);
    await cleanUp(app);
    t.strictSame(failures(app), []);
  });

  t.end();
  void [
    pg,
    createNotifier,
    createPair,
    storedIds,
    createTestApp,
    deleteAccount,
    unavailable,
    notificationsOf,
    requestPartnership,
    sendRequest,
    createPost,
    until,
    workers,
    quotas,
  ];
});

/** What an app logged as an error or as a warning. */
function failures({ logs }: TestApp): unknown[] {
  return logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
}
