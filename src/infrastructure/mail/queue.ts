import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type pg from 'pg';
import { expiredAfter } from '../database/clean-up.ts';
import type { Tx } from '../database/client.ts';
import { type Sql, sql } from '../database/sql.ts';
import { maxAttempts, type Outbox } from '../jobs/outbox.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { MailKinds } from './content.ts';

/** graphile-worker's task identifier of all emails. */
export const sendMailTask = 'send_mail';

/** What an email is made from when it is sent: ids, never secrets. */
export type MailPayload = Record<string, string | number>;

/** The payload of a job. */
const Job = Type.Intersect([
  Type.Object({
    kind: Type.String(),
    idempotency_key: Type.String(),
    traceparent: Type.Optional(Type.String()),
  }),
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
]);

/** The jobs of emails in the outbox, for `createOutbox`. */
export function mailJobs(kinds: MailKinds): Sql {
  const priorities = Object.fromEntries(
    Object.entries(kinds).map(([kind, { priority = 0 }]) => [kind, priority]),
  );
  return sql`
    SELECT id, json_build_object(
      'identifier', ${sendMailTask}::text, 'payload', mail, 'max_attempts', ${maxAttempts}::int,
      'priority', coalesce((${JSON.stringify(priorities)}::jsonb ->> (mail->>'kind'))::int, 0)) AS spec
    FROM taken WHERE mail IS NOT NULL`;
}

/** An account that gets an email it did not request; its id is added to the payload as `user_id`. */
type Recipient = { userId: number; payload: MailPayload };

export type MailQueue = ReturnType<typeof createMailQueue>;

/** The queue is graphile-worker's table of jobs. Emails get there through the outbox, after the commit. */
export function createMailQueue(options: {
  kinds: MailKinds;
  outbox: Pick<Outbox, 'wake'>;
  tracing?: Tracing | undefined;
}) {
  const { kinds, outbox, tracing } = options;

  /** The payload of a job. */
  const job = (kind: string, payload: MailPayload): Sql =>
    sql`${JSON.stringify({ ...payload, kind, idempotency_key: randomUUID(), traceparent: tracing?.traceparent() })}::jsonb`;

  /** Enqueues an email in the caller's transaction, so that it is sent only if that commits. */
  async function add(tx: Tx, kind: string, payload: MailPayload): Promise<void> {
    await tx.execute(sql`/* mails.add */ INSERT INTO outbox (mail) VALUES (${job(kind, payload)})`);
    tx.afterCommit(outbox.wake);
  }

  /** What the emails of a kind have in common, for `add_unrequested_mail`. */
  function unrequested(kind: string) {
    const { cap, topic = null } = kinds[kind] ?? {};
    if (cap === undefined) throw new Error(`emails of the kind ${kind} have no cap`);
    return { ...cap, topic, mail: job(kind, {}) };
  }

  /**
   * Enqueues an email like {@link add} for each recipient, unless the address is not verified or has had too many of the
   * purpose within an hour, or the user is suspended or has switched them off. It locks rows, in the order of the users to avoid
   * deadlocks: call it last, before `notify`.
   *
   * @returns how many are enqueued
   */
  async function addUnrequestedToAll(tx: Tx, kind: string, recipients: Recipient[]): Promise<number> {
    if (recipients.length === 0) return 0;
    const { purpose, perHour, topic, mail } = unrequested(kind);
    const [row] = await tx.query<{ added: number }>(sql`/* mails.addUnrequested */
      SELECT count(*) FILTER (
        WHERE add_unrequested_mail(${purpose}::mail_purpose, ${topic}::mail_topic, ${perHour}::int, ${mail}, user_id, payload)
      )::int AS added
      FROM (
        SELECT user_id, payload FROM unnest(
          ${recipients.map(({ userId }) => userId)}::int[],
          ${recipients.map(({ payload }) => JSON.stringify(payload))}::jsonb[]
        ) AS recipients(user_id, payload)
        -- Before the function is called, as a post may match the searches of many who want no emails.
        WHERE (SELECT coalesce(${topic}::mail_topic <> ALL (muted_mails), true) FROM users WHERE id = user_id)
        ORDER BY user_id
      ) ordered`);
    tx.afterCommit(outbox.wake);
    return row?.added ?? 0;
  }

  /** {@link addUnrequestedToAll} for one account. @returns whether it is enqueued */
  const addUnrequested = async (tx: Tx, { kind, ...recipient }: Recipient & { kind: string }) =>
    (await addUnrequestedToAll(tx, kind, [recipient])) > 0;

  return { add, addUnrequested, addUnrequestedToAll, unrequested };
}

export type QueuedMail = ReturnType<typeof readQueuedMail>;

/**
 * Reads the payload of a job. Its idempotency key is the same for every attempt; `traceparent` is the span of the request.
 *
 * @throws Error when it was not written by `MailQueue.add`
 */
export function readQueuedMail(job: unknown) {
  if (!Value.Check(Job, job)) throw new Error('the job is not a mail');
  const { kind, idempotency_key: idempotencyKey, traceparent, ...payload } = job;
  return { kind, idempotencyKey, traceparent, payload };
}

/**
 * Moves emails without an attempt left to the failed ones; graphile-worker would keep them for ever. One to a deleted account is not
 * kept, for which it waits for a deletion that is in progress. Users are locked in the order of their ids.
 */
export function moveExhaustedMails(database: Tx) {
  return database.query<{ kind: string; payload: object; reason: string; attempts: number }>(sql`
    /* mails.moveExhausted */ WITH exhausted AS MATERIALIZED (
      SELECT payload::jsonb AS payload, last_error, attempts FROM graphile_worker.complete_jobs(ARRAY(
        SELECT id FROM graphile_worker.jobs
        WHERE task_identifier = ${sendMailTask} AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))
    ), failed AS (
      SELECT (payload->>'user_id')::int AS user_id, left(coalesce(payload->>'kind', 'unknown'), 50) AS kind,
        payload - 'kind' - 'idempotency_key' - 'traceparent' AS payload,
        coalesce(last_error, 'the process ended during the last attempt') AS reason, attempts
      FROM exhausted ORDER BY user_id
    )
    INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
    SELECT user_id, kind, payload, reason, attempts FROM failed
    WHERE user_id IS NULL OR EXISTS (SELECT FROM users WHERE id = failed.user_id FOR KEY SHARE)
    RETURNING kind, payload, reason, attempts`);
}

/** Failed emails are kept for 90 days, so that an operator can look at them, or until their account is deleted. */
export const expiredFailedMails = expiredAfter('90 days', 'failed_mails');

/**
 * The task and the key of the one job that stands for a pause of emails, and is due when that ends; it never runs. In the queue,
 * because the provider counts the requests of all instances together.
 */
export const mailPauseTask = 'mail_pause';

/** Milliseconds after which a worker looks whether the pause has changed. */
const lookInterval = 5_000;

/** Part of the pause by which workers come back apart from each other. */
const spread = 0.02;

/** Begins a pause, or replaces the one there is. */
export async function pauseMails(database: Tx, seconds: number): Promise<void> {
  await database.query(sql`/* mails.pause */
    SELECT FROM graphile_worker.add_job(${mailPauseTask}, job_key => ${mailPauseTask},
      run_at => now() + ${seconds} * interval '1 second')`);
}

/** In milliseconds; deletes a pause that has ended. */
const timeLeft = {
  name: 'mail-pause',
  text: `WITH ended AS (DELETE FROM graphile_worker._private_jobs WHERE key = $1 AND run_at <= now())
    SELECT 1000 * extract(epoch FROM run_at - now())::float8 AS left
    FROM graphile_worker._private_jobs WHERE key = $1 AND run_at > now()`,
  values: [mailPauseTask],
};

/** Waits until emails may be sent, or for the signal. */
export async function endOfMailPause(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await pool.query<{ left: number }>(timeLeft);
    const pause = rows[0];
    if (pause === undefined) return;
    const wait = Math.min(pause.left * (1 + spread * Math.random()), lookInterval);
    await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
