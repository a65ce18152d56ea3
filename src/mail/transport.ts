import { Resend } from 'resend';
import type { RenderedMail } from './templates.ts';

/** A mail on its way to the provider. */
export interface OutgoingMail extends RenderedMail {
  to: string;
  /** The same key sends one mail, however often it is tried: Resend remembers it for 24 hours. 1-256 characters. */
  idempotencyKey: string;
}

/** The mail itself is at fault and will never be accepted: the queue gives up. Anything else thrown is temporary. */
export class MailRejectedError extends Error {
  override name = 'MailRejectedError';
}

/** Hands one mail to whoever delivers it. */
export interface MailTransport {
  /**
   * @throws MailRejectedError when trying again is pointless
   * @throws Error when the mail may be accepted later
   */
  send(mail: OutgoingMail): Promise<void>;
}

const defaultBaseUrl = 'https://api.resend.com';
const defaultTimeout = 10_000;

/**
 * Failures that another try of the same mail cannot mend, by Resend's names
 * (https://resend.com/docs/api-reference/errors). Everything that an operator can mend - key, domain, sender, quota -
 * is missing on purpose: such a mail waits in the queue until the service is configured right.
 */
const mailFaults: Record<string, string> = {
  validation_error: 'a field of the mail is not valid',
  invalid_parameter: 'a field of the mail is not valid',
  missing_required_field: 'a field of the mail is missing',
  invalid_attachment: 'an attachment is not valid',
  invalid_idempotency_key: 'the idempotency key is not valid',
  invalid_idempotent_request: 'the idempotency key was used for another mail',
};
/** The same names come with 403 for an unverified domain, and that an operator can mend. */
const mailFaultStatuses = new Set<number | undefined>([400, 409, 413, 422, undefined]);

/** What can be trusted of an error body: the SDK hands on whatever JSON the other side sent. */
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

/**
 * The provider's own message is not repeated: it may quote the mail, and with it a code or a link, while this reason
 * is stored and logged.
 */
function failureFor({ status, name, field }: ProviderFailure): Error {
  const answer = [status, name].filter((part) => part !== undefined).join(' ') || 'no readable answer';
  const fault = name === undefined ? undefined : mailFaults[name];
  // the sender is configuration, not part of one mail
  if (fault !== undefined && mailFaultStatuses.has(status) && field !== 'from') {
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
 * @param options.baseUrl where the API is, for tests; never read from the environment here
 * @param options.timeoutMs how long one try may take, connection and body included; the SDK itself waits for ever
 */
export function createResendTransport(options: {
  apiKey: string;
  from: string;
  baseUrl?: string;
  timeoutMs?: number;
}): MailTransport {
  const timeoutMs = options.timeoutMs ?? defaultTimeout;
  if (options.apiKey === '') throw new Error('A Resend API key is needed');
  // Whatever is left out here, the SDK would take from process.env.
  const resend = new Resend(options.apiKey, {
    baseUrl: (options.baseUrl ?? defaultBaseUrl).replace(/\/+$/, ''),
    userAgent: 'dure',
  });

  return {
    async send({ to, subject, text, html, idempotencyKey }) {
      const signal = AbortSignal.timeout(timeoutMs);
      // A provider that moved is for the operator to follow; the mail, with its code or link, goes nowhere else by itself.
      const request = { idempotencyKey, signal, redirect: 'manual' } as const;
      const { data, error } = await resend.emails.send(
        { from: options.from, to, subject, text, html },
        request,
      );
      if (signal.aborted && data === null) {
        throw new Error(`Resend did not answer within ${timeoutMs} ms`);
      }
      if (error !== null) throw failureFor(readFailure(error));
      // the SDK says there is always an id, but this is only what the other side sent
      const answer: { id?: unknown } | null = data;
      const id = answer?.id;
      if (typeof id !== 'string' || id === '') {
        throw new Error('Resend answered without the id of a mail, so it may not have taken it');
      }
    },
  };
}
