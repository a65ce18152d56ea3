import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { JobHelpers, Task } from 'graphile-worker';
import type { Database, Tx } from '../database/client.ts';
import { isForeignKeyViolation, reasonOf } from '../database/errors.ts';
import { sql } from '../database/sql.ts';
import { sendMailTask } from '../jobs/outbox.ts';
import { decideDelivery } from '../quiet-hours.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { inSpan, type Tracing } from '../telemetry/tracing.ts';
import { pauseMails } from './pause.ts';
import { type MailPayload, type QueuedMail, readQueuedMail } from './queue.ts';
import { type Language, type Mail, type RenderedMail, renderMail } from './rendering.ts';
import { MailRejectedError, type MailTransport, RateLimitedError } from './transport.ts';
import {
  type Subscription,
  topicOf,
  type UnsubscribeLinks,
  unsubscribeHeaders,
} from './unsubscribe-links.ts';

/** An email with all that its text depends on, and its recipient. */
export interface ComposedMail {
  to: string;
  /** The account with that address, if there is one. */
  userId?: number | undefined;
  language: Language;
  mail: Mail;
}

/** By kind, looks up what an email needs when it is sent; null for one that is obsolete. An error counts as temporary. */
export type MailComposers = Record<string, (payload: MailPayload) => Promise<ComposedMail | null>>;

export interface SendMailOptions {
  transport: MailTransport;
  unsubscribeLinks: UnsubscribeLinks;
  composers: MailComposers;
  database: Database;
  mailMetrics: MailMetrics;
  tracing: Tracing | undefined;
  logger: FastifyBaseLogger;
}

/**
 * The task that makes one attempt to send a queued email: composed and rendered each time, under the same key. Its span is linked
 * to the request that queued the email; so are its lines in the log.
 *
 * @param attemptLimit milliseconds until an attempt is given up, to be retried
 */
export function createSendMail(options: SendMailOptions, attemptLimit: number): Task {
  return async (input, { job, abortSignal, addJob }) => {
    const mail = readQueuedMail(input);
    const finished = new AbortController();
    const { signal } = finished;
    const fail = (reason: string) => () => {
      throw new Error(reason);
    };
    const attributes = {
      'messaging.operation.type': 'process',
      'dure.mail.kind': mail.kind,
      'dure.mail.attempt': job.attempts,
    };
    const span = { kind: 'CONSUMER', attributes, cause: mail.traceparent } as const;
    try {
      await Promise.race([
        inSpan(options.tracing, sendMailTask, span, () => attempt(options, mail, job, signal)),
        sleep(attemptLimit, undefined, { signal }).then(fail(`not sent within ${attemptLimit} ms`)),
        once(abortSignal, 'abort', { signal }).then(fail('the worker was stopped')),
      ]);
    } catch (error) {
      if (error instanceof RateLimitedError) {
        await pauseMails(options.database, error.seconds);
        // In its place among the others, with the attempts that it had left before this one.
        const maxAttempts = job.max_attempts - job.attempts + 1;
        await addJob(sendMailTask, input, { runAt: job.run_at, priority: job.priority, maxAttempts });
        options.mailMetrics.countMail(mail.kind, 'held_back');
        options.logger.warn({ job: job.id, reason: error.message, seconds: error.seconds }, 'mails pause');
        return;
      }
      // After the last attempt, the recovery of jobs counts the email as failed.
      if (job.attempts < job.max_attempts) options.mailMetrics.countMail(mail.kind, 'retried');
      throw error;
    } finally {
      finished.abort();
    }
  };
}

async function attempt(
  options: SendMailOptions,
  { kind, payload, idempotencyKey, traceparent }: QueuedMail,
  { id, attempts }: JobHelpers['job'],
  signal: AbortSignal,
): Promise<void> {
  const { transport, unsubscribeLinks, composers, database, mailMetrics, tracing } = options;
  const traceId = traceparent?.split('-')[1];
  const logger = traceId === undefined ? options.logger : options.logger.child({ request_trace_id: traceId });
  const compose = Object.hasOwn(composers, kind) ? composers[kind] : undefined;
  let userId = 'user_id' in payload ? Number(payload['user_id']) : undefined;
  let rendered: RenderedMail | undefined;
  try {
    if (compose === undefined) throw new MailRejectedError('there is no such kind of email');
    const composed = await compose(payload);
    const topic = topicOf(kind);
    const subscription = topic && userId !== undefined ? { userId, topic } : undefined;
    const delivery = composed && subscription ? await decide(database, id, kind, payload, subscription) : {};
    if (composed === null || delivery === undefined) {
      mailMetrics.countMail(kind, 'obsolete');
      logger.info({ job: id, kind }, 'obsolete mail dropped');
      return;
    }
    if ('until' in delivery) {
      logger.info({ job: id, kind, until: delivery.until }, 'mail waits for the end of quiet hours');
      return;
    }
    userId ??= composed.userId;
    const url = subscription && unsubscribeLinks.url(subscription, String(payload['key_id'] ?? ''));
    rendered = renderMail(composed.mail, composed.language, url);
    signal.throwIfAborted();
    const headers = url === undefined ? {} : { headers: unsubscribeHeaders(url) };
    const outgoing = { to: composed.to, ...rendered, ...headers, idempotencyKey };
    await inSpan(tracing, 'deliver mail', { kind: 'CLIENT' }, () => transport.send(outgoing));
    mailMetrics.countMail(kind, 'sent');
    logger.info({ job: id, kind, attempts, idempotencyKey }, 'mail sent');
  } catch (error) {
    if (error instanceof RateLimitedError) throw error;
    const reason = redact(reasonOf(error), rendered);
    // graphile-worker stores the message with the job and schedules the next attempt.
    if (!(error instanceof MailRejectedError)) throw new Error(reason);
    logger.error({ job: id, kind, payload, attempts, idempotencyKey, reason }, 'mail rejected, not retried');
    mailMetrics.countMail(kind, 'failed');
    const data = { userId: userId ?? null, kind, payload, reason, attempts };
    await database.prisma.failedMail.create({ data }).catch((cause: unknown) => {
      // One to a deleted account is not kept.
      if (!isForeignKeyViolation(cause)) throw cause;
    });
  }
}

/** As {@link decideDelivery}. An email that waited is not sent when its notification was read meanwhile. */
async function decide(
  database: Tx,
  jobId: string,
  kind: string,
  payload: MailPayload,
  { userId, topic }: Subscription,
) {
  const unread = sql`
    SELECT FROM unread_notifications WHERE user_id = ${userId} AND kind = ${kind}::notification_kind
      AND (partner_request_id = ${payload['request_id'] ?? null}::bigint OR post_id = ${payload['post_id'] ?? null}::bigint) LIMIT 1`;
  if ('is_deferred' in payload && (await database.execute(unread)) === 0) return undefined;
  return decideDelivery(database, jobId, { channel: 'email', userId, topic });
}

/** Removes what an error may quote of the email: whole lines, codes, and the parts of links. */
function redact(reason: string, mail: RenderedMail | undefined): string {
  if (mail === undefined) return reason.slice(0, 500);
  const lines = [mail.subject, ...mail.text.split('\n')]
    .map((line) => line.trim())
    .filter((line) => line.length > 9);
  const words = mail.text.split(/[\s?&=<>"']+/).filter((word) => /^(?=.*\d).{4,}|^.{16,}/.test(word));
  return [...lines, ...words]
    .sort((one, other) => other.length - one.length)
    .reduce((text, quoted) => text.replaceAll(quoted, '[...]'), reason)
    .slice(0, 500);
}

const mailOutcomes = ['sent', 'retried', 'held_back', 'failed', 'obsolete'] as const;
const jobOutcomes = ['completed', 'retried', 'failed'] as const;

export type MailMetrics = ReturnType<typeof createMailMetrics>;

/** Counts emails and jobs by their outcome. All series exist from the start, so that the first error is seen as an increase. */
export function createMailMetrics({ addCounter }: Metrics, kinds: string[], tasks: string[]) {
  const mails = addCounter('mails_total', 'Attempts to send an email, by kind and outcome', [
    'kind',
    'outcome',
  ]);
  const jobs = addCounter('queue_job_runs_total', 'Runs of jobs, by task and outcome', ['task', 'outcome']);
  for (const kind of kinds) for (const outcome of mailOutcomes) mails.inc({ kind, outcome }, 0);
  for (const task of tasks) for (const outcome of jobOutcomes) jobs.inc({ task, outcome }, 0);
  return {
    countMail(kind: string, outcome: (typeof mailOutcomes)[number]): void {
      mails.inc({ kind: kinds.includes(kind) ? kind : 'unknown', outcome });
    },
    countJob(task: string, outcome: (typeof jobOutcomes)[number]): void {
      jobs.inc({ task, outcome });
    },
  };
}
