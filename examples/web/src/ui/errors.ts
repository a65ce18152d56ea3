import { type ApiError, isApiError, NetworkError } from '@dure/client';
import { toast } from 'react-hot-toast/headless';
import { describeDuration, t } from '../text.ts';

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
  if (error instanceof NetworkError) {
    return t(
      '서버에 연결하지 못했습니다. 인터넷 연결을 확인하고 다시 시도해 주세요.',
      'The server cannot be reached. Check your connection and try again.',
    );
  }
  // A new passkey, where the device has one of the account.
  if (error instanceof DOMException && error.name === 'InvalidStateError') {
    return t(
      '이 기기에는 이미 등록한 패스키가 있습니다.',
      'This device has a passkey of your account already.',
    );
  }
  if (error instanceof GeolocationPositionError) {
    return error.code === error.PERMISSION_DENIED
      ? t(
          '위치 사용이 차단되어 있습니다. 브라우저의 사이트 설정에서 위치를 허용해 주세요.',
          'Your location is blocked. Allow it in the site settings of your browser.',
        )
      : t(
          '지금 위치를 확인하지 못했습니다. 잠시 후 다시 시도해 주세요.',
          'Your location cannot be found. Try again later.',
        );
  }
  return t(
    '예상하지 못한 문제가 생겼습니다. 잠시 후 다시 시도해 주세요.',
    'Something went wrong. Try again later.',
  );
}

function describeApiError({ code, detail, fields, retryAfter, data }: ApiError): string {
  // The text of the specification is about tokens.
  if (code === 'token_not_valid') {
    return t(
      '로그인이 만료되었습니다. 다시 로그인해 주세요.',
      'Your login has expired. Please log in again.',
    );
  }
  if (code === 'idempotency_conflict') {
    return t(
      '앞서 보내신 내용이 이미 등록되었을 수 있습니다. 내 가게에서 확인하신 뒤, 그래도 필요하면 다시 눌러 주세요.',
      'What you sent before may have arrived. Look at your shop first, and choose it again if you still need to.',
    );
  }
  const texts = Object.values(fields).flatMap((texts) => texts ?? []);
  if (code === 'validation_error' && texts.length > 0) return [...new Set(texts)].join(' ');
  if (retryAfter !== undefined) {
    const wait = describeDuration(retryAfter);
    return `${detail} ${t(`${wait} 후에 다시 시도할 수 있습니다.`, `You can try again in ${wait}.`)}`;
  }
  const left = 'attempts_left' in data ? data.attempts_left : undefined;
  if (typeof left !== 'number') return detail;
  return `${detail} ${t(`앞으로 ${left}번 더 입력할 수 있습니다.`, `Attempts left: ${left}.`)}`;
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
  const given =
    error instanceof InputError && error.field
      ? { [error.field]: [error.message] }
      : isApiError(error)
        ? error.fields
        : {};
  for (const [field, texts = []] of Object.entries(given)) {
    // A JSON pointer, for a value inside a field.
    const path = field.replace(/^\//, '').replaceAll('/', '.');
    const isIn = (name: string) => path === name || path.startsWith(`${name}.`);
    const name = names.filter(isIn).sort((one, other) => other.length - one.length)[0];
    if (name === undefined) others.push(...texts);
    else byField[name] = [...(byField[name] ? [byField[name]] : []), ...texts].join(' ');
  }
  return { byField, others };
}

/** Whether the user has closed a dialog, of this app or of the browser, and needs no message about it. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && ['AbortError', 'NotAllowedError'].includes(error.name);
}

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
