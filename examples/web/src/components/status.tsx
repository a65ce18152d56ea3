import type { PartnerRequestStatus } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';

/** Statuses that have a colour; others, also later ones, are grey. */
const colours: Partial<Record<string, string>> = {
  요청됨: 'requested',
  수락됨: 'accepted',
  거절됨: 'declined',
};

/** The status of a partnership request. */
export function Status({ status }: { status: PartnerRequestStatus }) {
  const { t } = useLanguage();
  return <span class={`status ${colours[status] ?? ''}`}>{t.statuses[status] ?? status}</span>;
}
