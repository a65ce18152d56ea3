import type { Input, Item } from '@dure/client';
import { useId } from 'react';
import { t } from '../text.ts';
import { Checkbox, ErrorTexts, useFieldErrors } from '../ui/index.ts';

type Consents = Input<'signUp'>['consents'];

const consentNames: Partial<Record<string, string>> = {
  is_14_or_older: t('만 14세 이상입니다', 'I am 14 or older'),
  terms: t('이용약관', 'Terms of service'),
  privacy: t('개인정보 수집·이용', 'Privacy policy'),
  marketing: t('광고성 정보 메일 수신', 'Offers and news by email'),
};

/** What is agreed to. */
export const nameOfConsent = (id: string): string => consentNames[id] ?? id;

/** What a new user is asked to agree to: nothing where the service has no terms. */
export function ConsentChoices({ items }: { items: Item<'listConsents'>[] }) {
  if (items.length === 0) return null;
  return (
    <fieldset className="field">
      <legend>{t('약관 동의', 'Consent')}</legend>
      <Choice id="is_14_or_older" version="true" required />
      {items.map((consent) => (
        <Choice key={consent.id} {...consent} />
      ))}
    </fieldset>
  );
}

interface ChoiceProps extends Pick<Item<'listConsents'>, 'version' | 'required'> {
  id: string;
  url?: string;
}

function Choice({ id, version, url, required }: ChoiceProps) {
  const errorId = useId();
  const errors = useFieldErrors(`/consents/${id}`);
  const name = nameOfConsent(id);
  return (
    <>
      <div className="spread">
        <Checkbox
          name={id}
          value={version}
          label={`${name} ${required ? t('(필수)', '(required)') : t('(선택)', '(optional)')}`}
          aria-invalid={errors.length > 0}
          aria-describedby={errors.length > 0 ? errorId : undefined}
        />
        {url && (
          <a className="small" href={url} target="_blank" rel="noreferrer">
            {t('보기', 'Show')}
            <span className="visually-hidden"> {name}</span>
          </a>
        )}
      </div>
      <ErrorTexts id={errorId} errors={errors} />
    </>
  );
}

/** What was chosen; the service says what is missing. */
export function consentsIn(data: FormData): Consents {
  const version = (name: string) => (data.has(name) ? String(data.get(name)) : undefined);
  return {
    terms: version('terms'),
    privacy: version('privacy'),
    marketing: data.has('marketing'),
    is_14_or_older: data.has('is_14_or_older') || undefined,
  };
}
