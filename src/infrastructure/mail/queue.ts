import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Tx } from '../database/client.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { Outbox } from '../jobs/outbox.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { maxPerHour, type UnrequestedPurpose } from './mail-sends.ts';
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

export interface UnrequestedMail {
  purpose: UnrequestedPurpose;
  kind: string;
  /** The account that gets it; added to the payload as `user_id`. */
  userId: number;
  payload: MailPayload;
}

export type MailQueue = ReturnType<typeof createMailQueue>;

/**
 * The queue is graphile-worker's table of jobs. Emails get there through the outbox, after the commit.
 *
 * @param keyId of the secret that signs links in emails; see `UnsubscribeLinks.url`
 */
export function createMailQueue(
  { keyId }: { keyId: string },
  { wake }: Pick<Outbox, 'wake'>,
  tracing?: Tracing,
) {
  /** The payload of a job. */
  const job = (kind: string, payload: MailPayload): Sql =>
    sql`${JSON.stringify({ ...payload, kind, idempotency_key: randomUUID(), traceparent: tracing?.traceparent() })}::jsonb`;

  /** Enqueues an email in the caller's transaction, so that it is sent only if that commits. */
  async function add(tx: Tx, kind: string, payload: MailPayload): Promise<void> {
    await tx.execute(sql`INSERT INTO outbox (mail) VALUES (${job(kind, payload)})`);
    tx.afterCommit(wake);
  }

  /** What the emails of a kind have in common, for `add_unrequested_mails`. */
  function unrequested({ purpose, kind }: Pick<UnrequestedMail, 'purpose' | 'kind'>) {
    const topic = topicOf(kind) ?? null;
    return { cap: maxPerHour[purpose], topic, mail: job(kind, topic === null ? {} : { key_id: keyId }) };
  }

  /**
   * Enqueues emails like {@link add}, at most one for each account, unless the address is not verified or has had too many of the
   * purpose within an hour, or the user is suspended or has switched them off. Locks the rows of the addresses until the
   * transaction ends: call it last, before `notify`.
   *
   * @returns how many are enqueued
   */
  async function addUnrequestedToAll(
    tx: Tx,
    { purpose, kind }: Pick<UnrequestedMail, 'purpose' | 'kind'>,
    recipients: Pick<UnrequestedMail, 'userId' | 'payload'>[],
  ): Promise<number> {
    const { cap, topic, mail } = unrequested({ purpose, kind });
    const [row] = await tx.query<{ added: number }>(sql`
      SELECT add_unrequested_mails(${purpose}::mail_purpose, ${topic}::mail_topic, ${cap}::int, ${mail},
        ${recipients.map(({ userId }) => userId)}::int[],
        ${recipients.map(({ payload }) => JSON.stringify(payload))}::jsonb[]) AS added`);
    tx.afterCommit(wake);
    return row?.added ?? 0;
  }

  /** {@link addUnrequestedToAll} for one account. @returns whether it is enqueued */
  async function addUnrequested(tx: Tx, mail: UnrequestedMail): Promise<boolean> {
    return (await addUnrequestedToAll(tx, mail, [mail])) > 0;
  }

  return { add, addUnrequested, addUnrequestedToAll, unrequested };
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
