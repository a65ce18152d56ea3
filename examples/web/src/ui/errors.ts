import { type ApiError, isApiError, NetworkError } from '@dure/client';
import { toast } from 'react-hot-toast/headless';
import { m } from '../paraglide/messages.js';
import { describeDuration } from '../text.ts';

/** Something that the user can put right, as the message says; at a field, where one is named. */
export class InputError extends Error {
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** What to tell people about an error: the service's own text where there is one. */
export function describeError(error: unknown): string {
  if (error instanceof InputError) return error.message;
  if (isApiError(error)) return describeApiError(error);
  if (error instanceof NetworkError) return m.the_server_cannot_be_reached();
  // A new passkey, where the device has one of the account.
  if (isOneOf(error, ['InvalidStateError'])) return m.this_device_has_a_passkey();
  if (!(error instanceof GeolocationPositionError)) return m.something_went_wrong_try_again();
  const isBlocked = error.code === error.PERMISSION_DENIED;
  return isBlocked ? m.your_location_is_blocked_allow() : m.your_location_cannot_be_found();
}

/** By code, where the text of the service is about something else than what users see. */
const texts: Partial<Record<string, () => string>> = {
  token_not_valid: m.your_login_has_expired_please,
  idempotency_conflict: m.what_you_sent_before_may,
  // The page has it already.
  precondition_failed: m.this_was_changed_look_again,
  // The token is of the account that has the address.
  link_token_invalid: m.not_connected,
};

function describeApiError({ code, operation, detail, fields, retryAfter, data }: ApiError): string {
  const own = texts[code];
  if (own) return own();
  const invalid = new Set(Object.values(fields).flat());
  if (code === 'validation_error' && invalid.size > 0) return [...invalid].join(' ');
  if (retryAfter !== undefined) {
    return `${detail} ${m.you_can_try_again_in({ wait: describeDuration(retryAfter) })}`;
  }
  const left = 'attempts_left' in data ? data.attempts_left : undefined;
  if (typeof left !== 'number') return detail;
  // The service does not say why. For one of an authenticator app, the login begins again.
  if (left === 0 && ['confirmEmail', 'changeEmail'].includes(operation)) return m.this_code_has_expired();
  return `${detail} ${m.attempts_left({ left })}`;
}

/**
 * Sorts the texts of an error by the fields that a form shows.
 *
 * @param names of the fields, in which a dot leads to a value inside, as in `quiet_hours.to`
 * @returns one text by field, and the texts that no field can show
 */
export function labelErrors(error: unknown, names: string[]) {
  const byField: Record<string, string> = {};
  const others: string[] = [];
  const own = error instanceof InputError && error.field ? { [error.field]: [error.message] } : {};
  for (const [field, texts = []] of Object.entries(isApiError(error) ? error.fields : own)) {
    // A JSON pointer, for a value inside a field.
    const path = field.replace(/^\//, '').replaceAll('/', '.');
    const isIn = (name: string) => path === name || path.startsWith(`${name}.`);
    const name = names.filter(isIn).sort((one, other) => other.length - one.length)[0];
    if (name === undefined) others.push(...texts);
    else byField[name] = [byField[name] ?? [], ...texts].flat().join(' ');
  }
  return { byField, others };
}

const isOneOf = (error: unknown, names: string[]) =>
  error instanceof DOMException && names.includes(error.name);

/** Whether the user has closed a dialog, of this app or of the browser, and needs no message about it. */
export const isCancelled = (error: unknown) => isOneOf(error, ['AbortError', 'NotAllowedError']);

/** A message that is red, and stays until it is closed. */
export function showError(error: unknown): void {
  const text = describeError(error);
  toast.error(text, { id: text, duration: Number.POSITIVE_INFINITY });
}

/** Runs what a button does, which has no place of its own for an error. */
export async function attempt(action: () => unknown): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isCancelled(error)) showError(error);
  }
}
