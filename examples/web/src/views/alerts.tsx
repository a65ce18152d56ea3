import { Page } from '../components/page.tsx';
import { useLanguage } from '../texts/language.tsx';
import { MailPreferences } from './mail-preferences.tsx';
import { SavedSearches } from './saved-searches.tsx';

/** What the account is notified of. */
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
        <MailPreferences />
        <SavedSearches />
      </div>
    </Page>
  );
}
