import { useLocation } from 'preact-iso';
import { Page } from '../components/page.tsx';
import { useLanguage } from '../texts/language.tsx';
import { ReceivedRequests } from './received-requests.tsx';
import { SentRequests } from './sent-requests.tsx';

/** Partnership requests, received or sent. */
export function RequestsView() {
  const { t } = useLanguage();
  const { query } = useLocation();
  const isSent = query['box'] === 'sent';
  return (
    <Page title={t.requests.title} width="narrow">
      <nav class="tabs" aria-label={t.requests.title}>
        <a href="/requests" aria-current={isSent ? undefined : 'page'}>
          {t.requests.received}
        </a>
        <a href="/requests?box=sent" aria-current={isSent ? 'page' : undefined}>
          {t.requests.sent}
        </a>
      </nav>
      {isSent ? <SentRequests /> : <ReceivedRequests />}
    </Page>
  );
}
