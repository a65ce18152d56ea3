import { isApiError } from '@dure/client';
import { dure } from '../api.ts';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';
import { Preferences } from './preferences.tsx';
import { SavedSearches } from './saved-searches.tsx';

/** What the account is notified of, how and when. */
export function AlertsView() {
  const { t } = useLanguage();
  return (
    <Page
      title={t.alerts.title}
      lead={t.alerts.text}
      width="narrow"
      back={{ href: '/account', label: t.account.title }}
    >
      <div class="stack">
        <PushSwitch />
        <Preferences />
        <SavedSearches />
      </div>
    </Page>
  );
}

/** Push notifications of this browser: one button for on and off. Missing where the service sends none. */
function PushSwitch() {
  const { t } = useLanguage();
  const { show } = useToasts();
  const { value, error, reload } = useLoad(async (signal) => {
    await dure.push.getKey({}, { signal });
    return dure.push.status();
  }, []);
  if (isApiError(error) && error.status === 404) return null;

  async function toggle() {
    try {
      if (value === 'on') await dure.push.unsubscribe();
      else await dure.push.subscribe('/push-worker.js');
      show(value === 'on' ? t.push.switchedOff : t.push.switchedOn);
    } finally {
      // The user may have blocked it just now.
      reload();
    }
  }

  return (
    <section class="card stack">
      <h2>
        {t.push.title} {value === 'on' && <span class="chip">{t.push.isOn}</span>}
      </h2>
      <p class="soft">{t.push.text}</p>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton count={1} height="3rem" />}
      {(value === 'blocked' || value === 'unsupported') && <p class="note warn">{t.push[value]}</p>}
      {(value === 'on' || value === 'off') && (
        <Form submitLabel={value === 'on' ? t.push.switchOff : t.push.switchOn} onSubmit={toggle} />
      )}
    </section>
  );
}
