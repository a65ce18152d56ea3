import { isApiError, NetworkError } from '@dure/client';
import { toast } from 'react-hot-toast/headless';
import { t } from '../text.ts';

/** Something that the user can put right, as the message says. */
export class InputError extends Error {}

/** What to tell people about an error: the service's own text where there is one. */
export function describeError(error: unknown): string {
  if (error instanceof InputError) return error.message;
  if (isApiError(error)) {
    return error.code === 'validation_error'
      ? t('빨간색으로 표시된 곳을 확인해 주세요.', 'Check what is marked in red.')
      : error.detail;
  }
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

/** Whether the user has closed a dialog, of this app or of the browser, and needs no message about it. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && ['AbortError', 'NotAllowedError'].includes(error.name);
}

/** Runs what a button does, which has no place of its own for an error: it becomes a short message. */
export async function attempt(action: () => unknown): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!isCancelled(error)) toast(describeError(error));
  }
}
