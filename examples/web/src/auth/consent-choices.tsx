import type { Input } from '@dure/client';
import type { useObject } from '@dure/react';
import { useId } from 'react';
import { t } from '../text.ts';
import { Checkbox, ErrorTexts } from '../ui/fields.tsx';
import { useFieldErrors } from '../ui/form.tsx';
import { Loaded } from '../ui/states.tsx';

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
export function ConsentChoices({ consents }: { consents: ReturnType<typeof useObject<'listConsents'>> }) {
  const id = useId();
  const errors = useFieldErrors('consents');
  const ofAge = { id: 'is_14_or_older', version: 'true', url: '', required: true };
  return (
    <Loaded query={consents}>
      {({ items }) =>
        items.length > 0 && (
          <fieldset className="field" aria-describedby={id}>
            <legend>{t('약관 동의', 'Consent')}</legend>
            {[ofAge, ...items].map(({ id: name, version, url, required }) => (
              <div className="spread" key={name}>
                <Checkbox
                  name={name}
                  value={version}
                  label={`${nameOfConsent(name)} ${required ? t('(필수)', '(required)') : t('(선택)', '(optional)')}`}
                  aria-invalid={required && errors.length > 0}
                />
                {url && (
                  <a className="small" href={url} target="_blank" rel="noreferrer">
                    {t('보기', 'Show')}
                    <span className="visually-hidden"> {nameOfConsent(name)}</span>
                  </a>
                )}
              </div>
            ))}
            <ErrorTexts id={id} errors={[...new Set(errors)]} />
          </fieldset>
        )
      }
    </Loaded>
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
