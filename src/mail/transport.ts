import { Resend } from 'resend';
import type { RenderedMail } from './templates.ts';

/** A rendered mail with its recipient. */
export interface OutgoingMail extends RenderedMail {
  to: string;
  /** One key sends one mail, also when it is retried within 24 hours (Resend's limit). 1-256 characters. */
  idempotencyKey: string;
}

/** The mail itself is invalid and is not retried. Any other error is temporary. */
export class MailRejectedError extends Error {
  override name = 'MailRejectedError';
}

/** Delivers mails. */
export interface MailTransport {
  /**
   * Sends one mail.
   *
   * @throws MailRejectedError when a retry cannot succeed
   * @throws Error when the mail may be accepted later
   */
  send(mail: OutgoingMail): Promise<void>;
}

const defaultBaseUrl = 'https://api.resend.com';
const defaultTimeout = 10_000;

/**
 * Resend's names of permanent failures (https://resend.com/docs/api-reference/errors). What an operator can fix (key,
 * domain, sender, quota) is not among them: such a mail waits in the queue.
 */
const permanentFailures: Record<string, string> = {
  validation_error: 'a field of the mail is not valid',
  invalid_parameter: 'a field of the mail is not valid',
  missing_required_field: 'a field of the mail is missing',
  invalid_attachment: 'an attachment is not valid',
  invalid_idempotency_key: 'the idempotency key is not valid',
  invalid_idempotent_request: 'the idempotency key was used for another mail',
};
/** The same names with 403 mean an unverified domain, which an operator can fix. */
const permanentStatuses = new Set<number | undefined>([400, 409, 413, 422, undefined]);

/** The validated part of an error. The SDK passes on any JSON that it received. */
interface ProviderFailure {
  status: number | undefined;
  name: string | undefined;
  field: string | undefined;
}

function readFailure(error: unknown): ProviderFailure {
  const body: { statusCode?: unknown; name?: unknown; message?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  return {
    status: typeof body.statusCode === 'number' ? body.statusCode : undefined,
    name: typeof body.name === 'string' && /^[a-z_]{1,40}$/.test(body.name) ? body.name : undefined,
    field:
      typeof body.message === 'string'
        ? /[`'"](from|to|subject|html|text|headers)[`'"]/.exec(body.message)?.[1]
        : undefined,
  };
}

/** Leaves out the provider's message, which may quote a code or a link of the mail: the reason is stored and logged. */
function failureFor({ status, name, field }: ProviderFailure): Error {
  const answer = [status, name].filter((part) => part !== undefined).join(' ') || 'no readable answer';
  const fault = name === undefined ? undefined : permanentFailures[name];
  // The sender is configuration, not part of one mail.
  if (fault !== undefined && permanentStatuses.has(status) && field !== 'from') {
    const where = field === undefined ? '' : ` (field "${field}")`;
    return new MailRejectedError(`Resend rejected the mail: ${fault}${where}: ${answer}`);
  }
  if (status === 401 || status === 403 || field === 'from' || name === 'invalid_from_address') {
    return new Error(
      `Resend accepts no mail from us, check RESEND_API_KEY, MAIL_FROM and its domain: ${answer}`,
    );
  }
  return new Error(`Resend did not take the mail, it may do so later: ${answer}`);
}

/**
 * Sends with Resend.
 *
 * @param options.from the sender, `Name <address>` or a bare address
 * @param options.baseUrl of the API, for tests; not read from the environment
 * @param options.timeoutMs milliseconds for connection, request and body; the SDK has no limit
 */
export function createResendTransport(options: {
  apiKey: string;
  from: string;
  baseUrl?: string;
  timeoutMs?: number;
}): MailTransport {
  const timeoutMs = options.timeoutMs ?? defaultTimeout;
  if (options.apiKey === '') throw new Error('A Resend API key is needed');
  // The SDK reads options that are missing from process.env.
  const resend = new Resend(options.apiKey, {
    baseUrl: (options.baseUrl ?? defaultBaseUrl).replace(/\/+$/, ''),
    userAgent: 'dure',
  });

  return {
    async send({ to, subject, text, html, idempotencyKey }) {
      const signal = AbortSignal.timeout(timeoutMs);
      // A mail contains a code or a link, so it is not sent to the target of a redirect.
      const request = { idempotencyKey, signal, redirect: 'manual' } as const;
      const { data, error } = await resend.emails.send(
        { from: options.from, to, subject, text, html },
        request,
      );
      if (signal.aborted && data === null) {
        throw new Error(`Resend did not answer within ${timeoutMs} ms`);
      }
      if (error !== null) throw failureFor(readFailure(error));
      // Typed as always present, but not validated by the SDK.
      const answer: { id?: unknown } | null = data;
      const id = answer?.id;
      if (typeof id !== 'string' || id === '') {
        throw new Error('Resend answered without the id of a mail, so it may not have taken it');
      }
    },
  };
}
