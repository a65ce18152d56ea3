import { isApiError, NetworkError, TimeoutError } from '@dure/client';
import type { ComponentChildren } from 'preact';
import type { Texts } from '../texts/ko.ts';
import { useLanguage } from '../texts/language.tsx';
import { StoreIcon } from './icons.tsx';

/** What to tell people about an error: the service's own text where there is one. */
export function describeError(error: unknown, t: Texts): string {
  if (isApiError(error)) return error.message;
  if (error instanceof NetworkError || error instanceof TimeoutError) return t.errors.network;
  // A new passkey, where the device has one of the account.
  if (error instanceof DOMException && error.name === 'InvalidStateError') return t.errors.passkeyExists;
  if (error instanceof GeolocationPositionError) {
    return error.code === error.PERMISSION_DENIED ? t.errors.placeBlocked : t.errors.placeUnknown;
  }
  return t.errors.unexpected;
}

/** Whether the user has closed a dialog, of this app or of the browser, and needs no message about it. */
export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && ['AbortError', 'NotAllowedError'].includes(error.name);
}

/** A failed load, with a way to try again. */
export function LoadError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useLanguage();
  // It would be missing at the next attempt, too.
  const isMissing = isApiError(error) && error.status === 404;
  return (
    <div class="note error stack" role="alert">
      <p>{describeError(error, t)}</p>
      {!isMissing && (
        <div>
          <button type="button" class="button" onClick={onRetry}>
            {t.common.retry}
          </button>
        </div>
      )}
    </div>
  );
}

/** Why a list is empty, and what to do about it. */
export function Empty({ text, children }: { text: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <StoreIcon size={48} />
      <p class="soft">{text}</p>
      {children}
    </div>
  );
}

interface SkeletonProps {
  count?: number;
  height?: string;
  class?: string;
}

/** Grey boxes in the size of what is being loaded, so that nothing moves when it arrives. */
export function Skeleton({ count = 3, height = '7rem', class: className = 'stack' }: SkeletonProps) {
  const { t } = useLanguage();
  return (
    <div class={className} role="status">
      <span class="visually-hidden">{t.common.loading}</span>
      {Array.from({ length: count }, (_, index) => (
        <div class="skeleton" key={index} style={{ height }} />
      ))}
    </div>
  );
}
