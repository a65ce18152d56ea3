import { useState } from 'preact/hooks';
import { dure, type SentRequest } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Empty } from '../components/states.tsx';
import { Status } from '../components/status.tsx';
import { Time } from '../components/time.tsx';
import { type ListPage, usePages } from '../hooks/use-pages.ts';
import { useLiveNotifications } from '../live.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Requests of the own store. Their answers appear by themselves. */
export function SentRequests() {
  const { t } = useLanguage();
  const requests = usePages(listSent, []);
  const [withdrawing, setWithdrawing] = useState<SentRequest>();
  useLiveNotifications(() => void requests.refresh().catch(() => undefined));
  return (
    <>
      <PagedList
        pages={requests}
        empty={
          <Empty text={t.requests.noneSent}>
            <a class="button primary" href="/">
              {t.feed.title}
            </a>
          </Empty>
        }
      >
        {(request) => (
          <article class="item">
            <div class="spread">
              <h2>
                <a href={`/requests/${request.id}`}>{request.receiver_store_name}</a>
              </h2>
              <Status status={request.status} />
            </div>
            <p class="soft small">
              <a href={`/posts/${request.post_id}`}>{request.post_title}</a> ·{' '}
              <Time moment={request.created_at} />
            </p>
            <blockquote class="pre-line">{request.message}</blockquote>
            {request.status === '요청됨' && (
              <div>
                <button type="button" class="button" onClick={() => setWithdrawing(request)}>
                  {t.requests.withdraw}
                </button>
              </div>
            )}
            {request.status === '수락됨' && (
              <p class="small">
                <a href={`/requests/${request.id}`}>{t.requests.showContact}</a>
              </p>
            )}
          </article>
        )}
      </PagedList>
      {withdrawing && (
        <ConfirmDialog
          title={t.requests.withdrawTitle}
          text={t.requests.withdrawText(withdrawing.receiver_store_name)}
          confirmLabel={t.requests.withdraw}
          onClose={() => setWithdrawing(undefined)}
          onConfirm={async () => {
            const withdrawn = await dure.partnerRequests.withdraw({ id: withdrawing.id });
            requests.update((other) => (other.id === withdrawn.id ? withdrawn : other));
          }}
        />
      )}
    </>
  );
}

async function listSent(cursor: string | undefined, signal: AbortSignal): Promise<ListPage<SentRequest>> {
  const { items, next_cursor } = await dure.partnerRequests.list({ box: 'sent', cursor }, { signal });
  return { items: items.filter((item) => 'receiver_store_name' in item), next_cursor };
}
