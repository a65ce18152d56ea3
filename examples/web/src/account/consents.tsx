import type { Item } from '@dure/client';
import { useObject } from '@dure/react';
import { dure } from '../api.ts';
import { nameOfConsent } from '../auth/consent-choices.tsx';
import { t } from '../text.ts';
import { attempt, Card, Loaded, Time } from '../ui/index.ts';
import { change } from './change.tsx';

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
                <Consent consent={consent} own={items.find(({ id }) => id === consent.id)} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

interface ConsentProps {
  consent: Item<'listConsents'>;
  own: Item<'getOwnConsents'> | undefined;
}

function Consent({ consent: { id, url, version }, own }: ConsentProps) {
  const moment = own?.withdrawn_at ?? own?.given_at;
  // The latest answer counts for marketing, of whichever version; it can always be withdrawn.
  const isGiven = id === 'marketing' ? own?.withdrawn_at === null : own?.is_current;
  const value = id === 'marketing' ? !isGiven : version;
  return (
    <div className="item">
      <div className="spread">
        <h3>
          <a href={url} target="_blank" rel="noreferrer">
            {nameOfConsent(id)}
          </a>
        </h3>
        {(!isGiven || id === 'marketing') && (
          <button
            type="button"
            className="button"
            onClick={() => attempt(() => change(dure.auth.updateOwnConsents, { [id]: value }))}
          >
            {isGiven ? t('철회하기', 'Withdraw') : t('동의하기', 'Agree')}
            <span className="visually-hidden"> {nameOfConsent(id)}</span>
          </button>
        )}
      </div>
      {moment && (
        <p className="soft small">
          {own?.version} · {own?.withdrawn_at ? t('철회:', 'Withdrawn:') : t('동의:', 'Given:')}{' '}
          <Time moment={moment} />
        </p>
      )}
    </div>
  );
}
