import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, logIn } from '../support/app.ts';
import { tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { refreshesOf } from './refresh.ts';
import { countIn, sessionIdIn } from './tokens.ts';

const app = await createTestApp();
t.teardown(app.close);
const other = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(other.close);

const user = await createUser(app);

const { refresh, read } = refreshesOf(app);

/** One instance or the other. */
const either = (index: number) => (index % 2 ? other : app);

/** Asserts that the session of these answers lives on, with the newest of their tokens, and that none was refused. */
async function livesOn(t: Test, token: string, answers: Answer[]) {
  t.strictSame(tally(answers), { 200: answers.length });
  const { rows } = await app.pool.query('SELECT refresh_count FROM sessions WHERE id = $1', [
    sessionIdIn(token),
  ]);
  t.equal(rows.length, 1, 'one live session');
  const tokens: string[] = answers.map(({ body }) => body.data.refresh);
  const newest = tokens.reduce((one, next) => (countIn(next) > countIn(one) ? next : one));
  t.equal(countIn(newest), rows[0].refresh_count);
  const reads = await Promise.all(answers.map(({ body }) => read(body.data.access)));
  t.strictSame(tally(reads), { 200: answers.length }, 'every access token works');
  const next = await refresh(newest);
  t.equal(next.status, 200, 'the newest token works');
  t.equal(countIn(next.body.data.refresh), countIn(newest) + 1);
}

t.test('20 concurrent refreshes of one token leave one session whose newest token works', async (t) => {
  const { refresh: token } = await logIn(app, user);
  const answers = await inParallel(20, (index) => refresh(token, either(index)));
  t.strictSame(new Set(answers.map(({ body }) => countIn(body.data.refresh))), new Set([1]), 'one rotation');
  await livesOn(t, token, answers);
});

t.test('concurrent refreshes of recently current tokens leave one session', async (t) => {
  const { refresh: first } = await logIn(app, user);
  const tokens = [first];
  const all: Answer[] = [];
  for (let round = 0; round < 5; round++) {
    const answers = await inParallel(20, (index) =>
      refresh(tokens[(index * 7) % tokens.length] ?? first, either(index)),
    );
    all.push(...answers);
    tokens.push(...answers.map(({ body }) => String(body.data.refresh)));
  }
  await livesOn(t, first, all);
});

t.test('20 tabs that refresh in sequence leave one session', async (t) => {
  const { refresh: first } = await logIn(app, user);
  const all: Answer[] = [];
  await inParallel(20, async (index) => {
    let answer = await refresh(first, either(index));
    for (let step = 0; step < 4; step++) {
      all.push(answer);
      answer = await refresh(answer.body.data.refresh, either(index + step));
    }
    all.push(answer);
    return answer;
  });
  await livesOn(t, first, all);
});

t.test('concurrent refreshes of several sessions are independent', async (t) => {
  const sessions = await inParallel(5, () => logIn(app, user));
  const tokens = sessions.map((session) => session.refresh);
  const answers = await inParallel(20, (index) => refresh(tokens[index % 5] ?? '', either(index)));
  for (const [index, token] of tokens.entries()) {
    await livesOn(
      t,
      token,
      answers.filter((_, one) => one % 5 === index),
    );
  }
});

t.test('20 concurrent reuses of an old token end the session', async (t) => {
  const { refresh: token } = await logIn(app, user);
  const next = (await refresh(token)).body.data;
  await app.pool.query(
    `UPDATE sessions SET rotated_at = ARRAY(SELECT t - interval '11 s' FROM unnest(rotated_at) t) WHERE id = $1`,
    [sessionIdIn(token)],
  );
  const answers = await inParallel(20, (index) => refresh(token, either(index)));
  t.strictSame(tally(answers), { '401 token_not_valid': 20 });
  const reasons = answers.map(({ body }) => body.data.reason);
  t.ok(reasons.includes('reused'));
  t.ok(reasons.every((reason) => ['reused', 'revoked'].includes(reason)));
  tokenRefused(t, await read(next.access), 'revoked');
  tokenRefused(t, await refresh(next.refresh), 'revoked', 'refresh');
});

t.test('a refresh during the logout does not restore the session', async (t) => {
  for (let round = 0; round < 5; round++) {
    const session = await logIn(app, user);
    const [, ...answers] = await Promise.all([
      app.call('POST', '/auth/logout/', { token: session.token }),
      ...Array.from({ length: 19 }, (_, index) => refresh(session.refresh, either(index))),
    ]);
    for (const answer of answers) {
      if (answer.status === 200) tokenRefused(t, await read(answer.body.data.access), 'revoked');
      else tokenRefused(t, answer, 'revoked', 'refresh');
    }
    tokenRefused(t, await refresh(session.refresh), 'revoked', 'refresh');
  }
});
