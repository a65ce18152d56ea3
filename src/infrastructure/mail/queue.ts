import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Tx } from '../database/client.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { countUnrequestedSend, type UnrequestedPurpose } from './mail-sends.ts';
import { topicOf } from './unsubscribe-links.ts';

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

/** graphile-worker's task identifier of all mails. */
export const sendMailTask = 'send_mail';

/** The delay after an attempt is e^attempts seconds, at most e^10: 3 seconds after the first, 4 days over all. */
const maxAttempts = 25;

/** Emails that a user waits for: sent before all others, so that a flood of others does not delay them. */
const urgentKinds = new Set(['verification_code', 'reset_link', 'user_id']);

export interface UnrequestedMail {
  purpose: UnrequestedPurpose;
  kind: string;
  /** The account that gets it; added to the payload as `user_id`. */
  userId: number;
  payload: MailPayload;
}

export type MailQueue = ReturnType<typeof createMailQueue>;

/**
 * The queue is graphile-worker's table of jobs; a worker of any instance picks a job up at once.
 *
 * @param keyId of the secret that signs links in emails; see `UnsubscribeLinks.url`
 */
export function createMailQueue({ keyId }: { keyId: string }, tracing?: Tracing) {
  /** Enqueues an email in the caller's transaction, so that it is sent only if that commits. */
  async function add(tx: Tx, kind: string, payload: MailPayload): Promise<void> {
    await tx.execute(sql`SELECT ${addJob(kind, payload, tracing?.traceparent())}`);
  }

  /**
   * Enqueues an email like {@link add}, unless the address is not verified or has had too many of them within an hour, or the user
   * is suspended or has switched them off. Locks the row of the address until the transaction ends: call it last, before `notify`.
   */
  async function addUnrequested(tx: Tx, { purpose, kind, userId, payload }: UnrequestedMail): Promise<void> {
    const topic = topicOf(kind);
    const key = topic === undefined ? {} : { key_id: keyId };
    await tx.execute(sql`
      WITH counted AS (${countUnrequestedSend(purpose, userId, topic)})
      SELECT ${addJob(kind, { ...payload, ...key, user_id: userId }, tracing?.traceparent())} FROM counted`);
  }

  return { add, addUnrequested };
}

function addJob(kind: string, payload: MailPayload, traceparent: string | undefined): Sql {
  const idempotencyKey = randomUUID();
  const job = JSON.stringify({ ...payload, kind, idempotency_key: idempotencyKey, traceparent });
  const priority = urgentKinds.has(kind) ? -10 : 0;
  // The key is never used twice, so the mode that looks for nothing to replace is safe. It takes half the time of the default.
  return sql`graphile_worker.add_job(
    ${sendMailTask}, payload => ${job}::json, max_attempts => ${maxAttempts}::int, priority => ${priority}::int,
    job_key => ${idempotencyKey}, job_key_mode => 'unsafe_dedupe')`;
}

export type QueuedMail = ReturnType<typeof readQueuedMail>;

/**
 * Reads the payload of a job. The idempotency key is the same for every attempt, so that the provider sends the email once;
 * `traceparent` is the span of the request that queued it, where it was traced.
 *
 * @throws Error when it was not written by `MailQueue.add`
 */
export function readQueuedMail(job: unknown) {
  if (!Value.Check(Job, job)) throw new Error('the job is not a mail');
  const { kind, idempotency_key: idempotencyKey, traceparent, ...payload } = job;
  return { kind, idempotencyKey, traceparent, payload };
}
