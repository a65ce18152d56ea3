import type { Input, Item as ItemOf } from '@dure/client';
import { useObject } from '@dure/react';
import { useId } from 'react';
import { dure } from '../api.ts';
import { change } from '../app/change.tsx';
import { t } from '../text.ts';
import { Button, Card, Checkbox, ErrorTexts, Item, Loaded, Time, useFieldErrors } from '../ui/index.ts';

const names: Partial<Record<string, string>> = {
  is_14_or_older: t('만 14세 이상입니다', 'I am 14 or older'),
  terms: t('이용약관', 'Terms of service'),
  privacy: t('개인정보 수집·이용', 'Privacy policy'),
  marketing: t('광고성 정보 메일 수신', 'Offers and news by email'),
};

/** The name under which the service says what is wrong. */
const pointerTo = (id: string) => `/consents/${id}`;

/** What a new user is asked to agree to: nothing where the service has no terms. */
export function ConsentChoices({ items }: { items: ItemOf<'listConsents'>[] }) {
  if (items.length === 0) return null;
  return (
    <fieldset className="field">
      <legend>{t('약관 동의', 'Consent')}</legend>
      <Choice id="is_14_or_older" required />
      {items.map((consent) => (
        <Choice key={consent.id} {...consent} />
      ))}
    </fieldset>
  );
}

interface ChoiceProps {
  id: string;
  version?: string;
  url?: string;
  required: boolean;
}

function Choice({ id, version, url, required }: ChoiceProps) {
  const errorId = useId();
  const name = names[id] ?? id;
  const necessity = required ? t('(필수)', '(required)') : t('(선택)', '(optional)');
  return (
    <>
      <div className="spread">
        <Checkbox
          name={pointerTo(id)}
          value={version}
          label={`${name} ${necessity}`}
          aria-describedby={errorId}
        />
        {url && (
          <a className="small" href={url} target="_blank" rel="noreferrer">
            {t('보기', 'Show')}
            <span className="visually-hidden"> {name}</span>
          </a>
        )}
      </div>
      <ErrorTexts id={errorId} errors={useFieldErrors(pointerTo(id))} />
    </>
  );
}

/** What was chosen; the service says what is missing. */
export function consentsIn(data: FormData): Input<'signUp'>['consents'] {
  const has = (id: string) => data.has(pointerTo(id));
  const version = (id: string) => (has(id) ? String(data.get(pointerTo(id))) : undefined);
  return {
    terms: version('terms'),
    privacy: version('privacy'),
    marketing: has('marketing'),
    is_14_or_older: has('is_14_or_older') || undefined,
  };
}

/** What the user has agreed to, and what can still be agreed to or withdrawn. Missing where the service has no terms. */
export function Consents() {
  const listed = useObject(dure.auth.listConsents);
  const own = useObject(dure.auth.getOwnConsents);
  if (listed.data?.items.length === 0) return null;
  return (
    <Card title={t('동의 내역', 'My consents')}>
      <Loaded query={own}>
        {({ items }) => (
          <ul className="items">
            {listed.data?.items.map((consent) => (
              <li key={consent.id}>
                <Consent {...consent} own={items.find(({ id }) => id === consent.id)} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

interface ConsentProps extends ItemOf<'listConsents'> {
  own: ItemOf<'getOwnConsents'> | undefined;
}

function Consent({ id, url, version, own }: ConsentProps) {
  const name = names[id] ?? id;
  const moment = own?.withdrawn_at ?? own?.given_at;
  // The latest answer counts for marketing, of whichever version; it can always be withdrawn.
  const isGiven = id === 'marketing' ? own?.withdrawn_at === null : own?.is_current;
  const value = id === 'marketing' ? !isGiven : version;
  const label = isGiven ? t('철회하기', 'Withdraw') : t('동의하기', 'Agree');
  const update = () => change(dure.auth.updateOwnConsents, { [id]: value });
  return (
    <Item
      title={
        <a href={url} target="_blank" rel="noreferrer">
          {name}
        </a>
      }
      actions={(!isGiven || id === 'marketing') && <Button label={label} about={name} onClick={update} />}
    >
      {moment && (
        <>
          {own?.version} · {own?.withdrawn_at ? t('철회:', 'Withdrawn:') : t('동의:', 'Given:')}{' '}
          <Time moment={moment} />
        </>
      )}
    </Item>
  );
}
