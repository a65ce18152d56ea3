import { dure, type Notification } from '../api.ts';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Empty } from '../components/states.tsx';
import { Status } from '../components/status.tsx';
import { Time } from '../components/time.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { usePages } from '../hooks/use-pages.ts';
import { useLiveNotifications, useUnread } from '../live.tsx';
import { useLanguage } from '../texts/language.tsx';
import { AnswerRequest } from './answer-request.tsx';

/** What happened, newest first. Emails about requests link here, so that a request can be answered here, too. */
export function NotificationsView() {
  const { t, language } = useLanguage();
  const attempt = useAttempt();
  const { unread, setUnread } = useUnread();
  // The service writes the texts in the language of the request.
  const list = usePages((cursor, signal) => dure.notifications.list({ cursor }, { signal }), [language]);
  useLiveNotifications(() => void list.refresh().catch(() => undefined));

  const markRead = (which: { ids: number[] } | { up_to_id: number }) =>
    attempt(async () => {
      const { unread_count } = await dure.notifications.markRead(which);
      setUnread(unread_count);
      list.update((item) => {
        const isMarked = 'ids' in which ? which.ids.includes(item.id) : item.id <= which.up_to_id;
        return isMarked ? { ...item, is_read: true } : item;
      });
    });

  const newest = list.items[0];
  return (
    <Page
      title={t.notifications.title}
      width="narrow"
      actions={
        <div class="row">
          <a class="button plain" href="/account/alerts">
            {t.alerts.title}
          </a>
          {newest && unread > 0 && (
            <button type="button" class="button" onClick={() => markRead({ up_to_id: newest.id })}>
              {t.notifications.markAll}
            </button>
          )}
        </div>
      }
    >
      <PagedList pages={list} empty={<Empty text={t.notifications.empty} />}>
        {(notification) => (
          <Item
            notification={notification}
            onRead={() => markRead({ ids: [notification.id] })}
            onAnswered={() => void list.refresh().catch(() => undefined)}
          />
        )}
      </PagedList>
    </Page>
  );
}

interface ItemProps {
  notification: Notification;
  onRead: () => void;
  onAnswered: () => void;
}

function Item({ notification, onRead, onAnswered }: ItemProps) {
  const { t } = useLanguage();
  const { message, is_read, created_at } = notification;
  const request = 'partner_request' in notification ? notification.partner_request : undefined;
  const isReceived = notification.kind === 'partner_request_received';
  const href = 'post' in notification ? `/posts/${notification.post.id}` : `/requests/${request?.id}`;
  return (
    <article class="item">
      <h2>
        {!is_read && (
          <>
            <span class="unread-dot" aria-hidden="true" />
            <span class="visually-hidden">{t.notifications.unread} </span>
          </>
        )}
        <a href={href} onClick={() => is_read || onRead()}>
          {message}
        </a>
      </h2>
      <div class="spread">
        <p class="row soft small">
          {request && <Status status={request.status} />}
          <Time moment={created_at} />
        </p>
        {!is_read && (
          <button type="button" class="button plain small" onClick={onRead}>
            {t.notifications.markOne}
          </button>
        )}
      </div>
      {request && isReceived && <blockquote class="pre-line">{request.message}</blockquote>}
      {request && isReceived && request.status === '요청됨' && (
        <AnswerRequest
          id={request.id}
          storeName={request.sender_store_name}
          onAnswered={() => {
            if (!is_read) onRead();
            onAnswered();
          }}
        />
      )}
    </article>
  );
}
