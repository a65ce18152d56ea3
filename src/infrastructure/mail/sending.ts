import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Task } from 'graphile-worker';
import type { Database } from '../database/client.ts';
import { isForeignKeyViolation, reasonOf } from '../database/errors.ts';
import type { Lane } from '../jobs/worker.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { WrittenMail } from './content.ts';
import {
  endOfMailPause,
  type MailPayload,
  moveExhaustedMails,
  pauseMails,
  type QueuedMail,
  readQueuedMail,
  sendMailTask,
} from './queue.ts';
import { renderMail } from './rendering.ts';
import { MailRejectedError, type MailTransport, RateLimitedError } from './transport.ts';

/** An email as it is before it is rendered, and its recipient. */
export interface ComposedMail {
  to: string;
  /** The account with that address, where the payload does not name it. */
  userId?: number | undefined;
  mail: WrittenMail;
}

/** By kind, looks up what an email needs when it is sent; null for one that is obsolete. An error counts as temporary. */
export type MailComposers<Kind extends string = string> = Record<
  Kind,
  (payload: MailPayload) => Promise<ComposedMail | null>
>;

/** What the job of an email is to do by the preferences of the recipient: send it, or end, because it waits in another job. */
export type MailPermission = { unsubscribeUrl?: string } | { until: Date };

/** A queued email, and the job of graphile-worker that sends it. */
export type MailToCheck = QueuedMail & { jobId: string };

interface MailLaneOptions {
  transport: MailTransport;
  composers: MailComposers;
  /** @returns undefined for an email that its recipient does not want */
  checkMail(mail: MailToCheck): Promise<MailPermission | undefined>;
  database: Database;
  metrics: Metrics;
  tracing: Tracing | undefined;
  logger: FastifyBaseLogger;
  /** Milliseconds until an attempt is given up, to be retried. */
  attemptLimit?: number;
}

const outcomes = ['sent', 'retried', 'held_back', 'failed', 'obsolete'] as const;

/**
 * The jobs of emails, of which none is taken during their pause. Each makes one attempt, and composes and renders its email. Its span and its
 * lines in the log are linked to the request that queued it.
 */
export function createMailLane(options: MailLaneOptions): Lane {
  const { transport, composers, checkMail, database, metrics, tracing, attemptLimit = 30_000 } = options;
  const inSpan: Tracing['inSpan'] = tracing?.inSpan ?? ((_span, work) => work());
  const workerLogger = options.logger.child({ part: 'worker' });
  const kinds = Object.keys(composers);
  const labels = { kind: kinds, outcome: outcomes };
  const mails = metrics.addCounter('mails_total', 'Attempts to send an email, by kind and outcome', labels);
  const countMail = (kind: string, outcome: (typeof outcomes)[number]) =>
    mails.inc({ kind: kinds.includes(kind) ? kind : 'unknown', outcome });

  const send: Task = async (input, { job, abortSignal, addJob }) => {
    const mail = readQueuedMail(input);
    const { kind, traceparent: cause } = mail;
    const finished = new AbortController();
    const { signal } = finished;
    const fail = (reason: string) => () => {
      throw new Error(reason);
    };
    const attributes = {
      'messaging.operation.type': 'process',
      'dure.mail.kind': kind,
      'dure.mail.attempt': job.attempts,
    };
    const span = { name: sendMailTask, kind: 'CONSUMER', attributes, cause } as const;
    try {
      await Promise.race([
        inSpan(span, () => attempt({ ...mail, jobId: job.id }, job.attempts, signal)),
        sleep(attemptLimit, undefined, { signal }).then(fail(`not sent within ${attemptLimit} ms`)),
        once(abortSignal, 'abort', { signal }).then(fail('the worker was stopped')),
      ]);
    } catch (error) {
      if (error instanceof RateLimitedError) {
        await pauseMails(database, error.seconds);
        // In its place among the others, with the attempts that it had left before this one.
        const maxAttempts = job.max_attempts - job.attempts + 1;
        await addJob(sendMailTask, input, { runAt: job.run_at, priority: job.priority, maxAttempts });
        countMail(kind, 'held_back');
        workerLogger.warn({ job: job.id, reason: error.message, seconds: error.seconds }, 'mails pause');
        return;
      }
      // After the last attempt, the recovery of jobs counts the email as failed.
      if (job.attempts < job.max_attempts) countMail(kind, 'retried');
      throw error;
    } finally {
      // The signal of the worker outlives its jobs, and would keep what listens to it.
      finished.abort();
    }
  };

  async function attempt(mail: MailToCheck, attempts: number, signal: AbortSignal): Promise<void> {
    const { jobId: job, kind, payload, idempotencyKey, traceparent } = mail;
    const request_trace_id = traceparent?.split('-')[1];
    const logger = request_trace_id === undefined ? workerLogger : workerLogger.child({ request_trace_id });
    const compose = Object.hasOwn(composers, kind) ? composers[kind] : undefined;
    let userId = 'user_id' in payload ? Number(payload['user_id']) : undefined;
    try {
      if (compose === undefined) throw new MailRejectedError('there is no such kind of email');
      const composed = await compose(payload);
      const permission = composed && (await checkMail(mail));
      if (!permission) {
        countMail(kind, 'obsolete');
        logger.info({ job, kind }, 'obsolete mail dropped');
        return;
      }
      if ('until' in permission) {
        logger.info({ job, kind, until: permission.until }, 'mail waits for the end of quiet hours');
        return;
      }
      userId ??= composed.userId;
      const { unsubscribeUrl: url } = permission;
      const rendered = renderMail(composed.mail, url);
      signal.throwIfAborted();
      // RFC 2369 and RFC 8058.
      const oneClick = {
        'List-Unsubscribe': `<${url}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      };
      const headers = url === undefined ? {} : { headers: oneClick };
      const outgoing = { to: composed.to, ...rendered, ...headers, idempotencyKey };
      await inSpan({ name: 'deliver mail', kind: 'CLIENT' }, () => transport.send(outgoing));
      countMail(kind, 'sent');
      logger.info({ job, kind, attempts, idempotencyKey }, 'mail sent');
    } catch (error) {
      if (error instanceof RateLimitedError) throw error;
      const reason = reasonOf(error).slice(0, 500);
      // graphile-worker stores the message with the job and schedules the next attempt.
      if (!(error instanceof MailRejectedError)) throw new Error(reason);
      logger.error({ job, kind, payload, attempts, idempotencyKey, reason }, 'mail rejected, not retried');
      countMail(kind, 'failed');
      const data = { userId: userId ?? null, kind, payload, reason, attempts };
      await database.prisma.failedMail.create({ data }).catch((cause: unknown) => {
        // One to a deleted account is not kept.
        if (!isForeignKeyViolation(cause)) throw cause;
      });
    }
  }

  return {
    concurrency: 2,
    tasks: { [sendMailTask]: send },
    logsPayload: true,
    forbiddenFlags: (pool, signal) => endOfMailPause(pool, signal).then(() => null),
    async keepExhausted() {
      for (const mail of await moveExhaustedMails(database)) {
        countMail(mail.kind, 'failed');
        workerLogger.error(mail, 'mail failed after its last attempt');
      }
    },
  };
}
