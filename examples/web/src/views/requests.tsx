import { useLocation } from 'preact-iso';
import { Page } from '../components/page.tsx';
import { RequestTabs } from '../components/tabs.tsx';
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
      <RequestTabs current={isSent ? '/requests?box=sent' : '/requests'} />
      {isSent ? <SentRequests /> : <ReceivedRequests />}
    </Page>
  );
}
