import type { Resend } from 'resend';
import { retryAfterSeconds } from '../jobs/outbox.ts';
import type { RenderedMail } from './rendering.ts';

export interface OutgoingMail extends RenderedMail {
  to: string;
  /** Headers of the email itself. */
  headers?: Record<string, string>;
  /** One key sends one email, also when it is retried within 24 hours (Resend's limit). 1-256 characters. */
  idempotencyKey: string;
}

/** The email itself is invalid and is not retried. */
export class MailRejectedError extends Error {
  override name = 'MailRejectedError';
}

/** The provider accepts no email at the moment, because of a limit on their rate or number: this one has not failed. */
export class RateLimitedError extends Error {
  override name = 'RateLimitedError';
  /** For which the provider wants no other attempt. */
  readonly seconds: number;

  constructor(message: string, retryAfter: string | undefined) {
    super(message);
    this.seconds = retryAfterSeconds(retryAfter, longestPause) || defaultPause;
  }
}

/** Seconds: without `retry-after`, and at most, so that a quota that was raised is noticed. */
const defaultPause = 5;
const longestPause = 600;

export interface MailTransport {
  /**
   * The messages of its errors quote nothing of the email, because they are stored and logged.
   *
   * @throws {MailRejectedError} when a retry cannot succeed; {RateLimitedError} when the provider accepts none at the moment; any
   * other error when the email may be accepted later
   */
  send(mail: OutgoingMail): Promise<void>;
}

/**
 * Resend's names of permanent errors (https://resend.com/docs/api-reference/errors). What an operator can fix (key, domain, sender,
 * quota) is not among them: such an email waits in the queue.
 */
const permanentErrors = new Set<string | undefined>([
  'validation_error',
  'invalid_parameter',
  'missing_required_field',
  'invalid_attachment',
  'invalid_idempotency_key',
]);
/** The same names with 403 mean an unverified domain. The SDK's own errors have no status. */
const permanentStatuses = new Set<number | undefined>([400, 413, 422, undefined]);

/** The error for a response of the provider, of any JSON. Leaves out its message, which may quote a code or a link of the email. */
function errorFor(response: unknown, retryAfter: string | undefined): Error {
  const { statusCode, name: givenName, message }: Record<string, unknown> = Object(response);
  // What the SDK returns for a request that failed before a response; it drops the cause.
  if (statusCode === null && givenName === 'application_error') {
    return new Error('Resend cannot be reached, or closed the connection');
  }
  const status = typeof statusCode === 'number' ? statusCode : undefined;
  const name = /^[a-z_]{1,40}$/.exec(String(givenName ?? ''))?.[0];
  const field = /[`'"](from|to|subject|html|text|headers)[`'"]/.exec(String(message))?.[1];
  const reason =
    [status, name, field && `(field "${field}")`].filter(Boolean).join(' ') || 'no readable response';
  // The sender is configuration, not part of one email.
  if (permanentErrors.has(name) && permanentStatuses.has(status) && field !== 'from') {
    return new MailRejectedError(`Resend rejected the email: ${reason}`);
  }
  if (status === 401 || status === 403 || field === 'from' || name === 'invalid_from_address') {
    return new Error(
      `Resend accepts no email from us, check RESEND_API_KEY, MAIL_FROM and its domain: ${reason}`,
    );
  }
  const later = `Resend did not accept the email, it may do so later: ${reason}`;
  // The SDK takes the status from the body, which may lack it. What says when to try again is a limit then.
  const isLimit = status === undefined && (retryAfter !== undefined || name?.endsWith('_exceeded'));
  return status === 429 || isLimit ? new RateLimitedError(later, retryAfter) : new Error(later);
}

/** An earlier attempt was accepted and its response lost. The body is another one because what it is composed from has changed. */
function wasSentBefore({ statusCode = 409, name }: { statusCode?: unknown; name?: unknown }): boolean {
  return statusCode === 409 && name === 'invalid_idempotent_request';
}

/**
 * Sends with Resend.
 *
 * @param options the sender `from` is `Name <address>` or a bare address; `timeoutMs` is for connection, request and body
 */
export function createResendTransport({
  apiKey,
  from,
  baseUrl = 'https://api.resend.com',
  timeoutMs = 10_000,
}: Record<'apiKey' | 'from', string> & { baseUrl?: string | undefined; timeoutMs?: number }): MailTransport {
  if (apiKey === '') throw new Error('A Resend API key is needed');
  let client: Promise<Resend> | undefined;
  return {
    async send({ to, subject, text, html, headers, idempotencyKey }) {
      const signal = AbortSignal.timeout(timeoutMs);
      // An email contains a code or a link, so it is not sent to the target of a redirect.
      const request = { idempotencyKey, signal, redirect: 'manual' } as const;
      // Loaded for the first email, so that the start does not wait. The SDK reads options that are missing from process.env.
      client ??= import('resend').then(
        ({ Resend }) => new Resend(apiKey, { baseUrl: baseUrl.replace(/\/+$/, ''), userAgent: 'dure' }),
      );
      const mail = { from, to, subject, text, html, ...(headers ? { headers } : {}) };
      const { data, error, headers: received } = await (await client).emails.send(mail, request);
      if (signal.aborted && data === null) throw new Error(`Resend did not respond within ${timeoutMs} ms`);
      if (error !== null) {
        if (wasSentBefore(Object(error))) return;
        throw errorFor(error, received?.['retry-after']);
      }
      // Typed as always present, but the SDK does not validate it.
      if (!data?.id)
        throw new Error('Resend responded without the id of an email, so it may not have accepted it');
    },
  };
}
