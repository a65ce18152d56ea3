import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Connection, Database } from '../database/client.ts';

/** What a mail is made from when it is sent: ids, never secrets. */
export type MailPayload = Record<string, string | number>;

/** Where mails wait until they are sent. */
export interface MailQueue {
  /** Queues a mail in the caller's transaction, so that it is sent exactly if the change is kept. */
  add(transaction: Connection, kind: string, payload: MailPayload): Promise<void>;
}

/** A mail as the worker gets it from the queue. */
export interface QueuedMail {
  kind: string;
  payload: MailPayload;
  /** The same for every try, so that the provider sends the mail once. */
  idempotencyKey: string;
}

/** A mail that will not be sent any more. */
export interface FailedMail {
  kind: string;
  payload: MailPayload;
  /** For the operator; never the mail's text, for that holds codes and links. */
  reason: string;
  attempts: number;
}

/** The name that the jobs of all mails have in the queue. */
export const sendMailTask = 'send_mail';

/** The delay before a try is e^attempts seconds, at most e^10: the first after 3 seconds, the last after 4 days. */
const maxAttempts = 25;

/** The queue of mails: rows in graphile-worker's table, which a worker of any instance takes up at once. */
export function createMailQueue(): MailQueue {
  return {
    async add(transaction, kind, payload) {
      const job = JSON.stringify({ ...payload, kind, idempotency_key: randomUUID() });
      await transaction.$executeRaw`
        SELECT graphile_worker.add_job(${sendMailTask}, payload => ${job}::json, max_attempts => ${maxAttempts}::int)`;
    },
  };
}

/** @throws Error when a job was not queued by `MailQueue.add` */
export function readQueuedMail(job: unknown): QueuedMail {
  if (!isMailPayload(job)) throw new Error('The job is not a mail');
  const { kind, idempotency_key: idempotencyKey, ...payload } = job;
  if (typeof kind !== 'string' || typeof idempotencyKey !== 'string') {
    throw new Error('The job has no kind of mail or no idempotency key');
  }
  return { kind, idempotencyKey, payload };
}

function isMailPayload(value: unknown): value is MailPayload {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((item) => typeof item === 'string' || typeof item === 'number')
  );
}

/** Keeps a mail that nobody will try again where an operator sees it. */
export async function keepFailedMail(database: Pick<Database, 'client'>, mail: FailedMail): Promise<void> {
  await database.client.failedMail.create({ data: mail });
}

/**
 * Moves jobs without a try left to the failed mails, also those whose last try ended with its process. graphile-worker
 * itself would keep such a row for ever and tell nobody.
 */
const keepExhausted = `
  WITH exhausted AS MATERIALIZED (
    SELECT payload::jsonb AS payload, last_error, attempts FROM graphile_worker.complete_jobs(ARRAY(
      SELECT id FROM graphile_worker.jobs
      WHERE task_identifier = $1 AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000
    ))
  )
  INSERT INTO failed_mails (kind, payload, reason, attempts)
  SELECT
    left(coalesce(payload->>'kind', 'unknown'), 50),
    payload - 'kind' - 'idempotency_key',
    coalesce(last_error, 'the process ended during the last try'),
    attempts
  FROM exhausted
  RETURNING kind, payload, reason, attempts`;

/** @returns the mails that were given up */
export async function keepExhaustedMails(database: Pick<Database, 'pool'>): Promise<FailedMail[]> {
  const { rows }: pg.QueryResult<FailedMail> = await database.pool.query(keepExhausted, [sendMailTask]);
  return rows;
}

/** What an error says, in one line. Errors of connections may have a code only. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an error without a message';
  const code = 'code' in error ? String(error.code) : error.name;
  return (error.message || code).replace(/\s+/g, ' ').trim();
}
