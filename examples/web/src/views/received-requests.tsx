import { dure, type ReceivedRequest } from '../api.ts';
import { PagedList } from '../components/paged-list.tsx';
import { Empty } from '../components/states.tsx';
import { Status } from '../components/status.tsx';
import { Time } from '../components/time.tsx';
import { type ListPage, usePages } from '../hooks/use-pages.ts';
import { useLiveNotifications } from '../live.tsx';
import { useLanguage } from '../texts/language.tsx';
import { AnswerRequest } from './answer-request.tsx';

/** Requests that answer the own posts. New ones appear by themselves. */
export function ReceivedRequests() {
  const { t } = useLanguage();
  const requests = usePages(listReceived, []);
  useLiveNotifications(() => void requests.refresh().catch(() => undefined));
  return (
    <PagedList
      pages={requests}
      empty={
        <Empty text={t.requests.noneReceived}>
          <a class="button primary" href="/posts/new">
            {t.feed.write}
          </a>
        </Empty>
      }
    >
      {(request) => (
        <article class="item">
          <div class="spread">
            <h2>
              <a href={`/requests/${request.id}`}>{request.sender_store.name}</a>
            </h2>
            <Status status={request.status} />
          </div>
          <p class="soft small">
            <a href={`/posts/${request.post_id}`}>{request.post_title}</a> ·{' '}
            <Time moment={request.created_at} />
          </p>
          <blockquote class="pre-line">{request.message}</blockquote>
          {request.status === '요청됨' && (
            <AnswerRequest
              id={request.id}
              storeName={request.sender_store.name}
              onAnswered={(answered) =>
                requests.update((other) => (other.id === answered.id ? answered : other))
              }
            />
          )}
          {request.status === '수락됨' && (
            <p class="small">
              <a href={`/requests/${request.id}`}>{t.requests.showContact}</a>
            </p>
          )}
        </article>
      )}
    </PagedList>
  );
}

async function listReceived(
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<ReceivedRequest>> {
  const { items, next_cursor } = await dure.partnerRequests.list({ box: 'received', cursor }, { signal });
  return { items: items.filter((item) => 'sender_store' in item), next_cursor };
}
