import type { PartnerRequestStatus, Post } from '../api.ts';
import { describeDay } from '../texts/dates.ts';
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

/** Whether a post is closed, or its last day. */
export function PostStatus({ status, closes_on }: Partial<Pick<Post, 'status' | 'closes_on'>>) {
  const { t, language } = useLanguage();
  if (status === 'closed') return <span class="status">{t.post.closed}</span>;
  if (!closes_on) return null;
  return <span class="status requested">{t.post.closesOn(describeDay(closes_on, language))}</span>;
}
