import type { Notification } from '@dure/client';
import { useInfiniteList, useMutation } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { attempt, Button, ButtonLink, Empty, List, Page, Time } from '../ui/index.ts';
import { RequestActions, RequestStatus } from './request-parts.tsx';

/** What happened, newest first. Emails about requests link here, so that a request can be answered here, too. */
export function Notifications() {
  const list = useInfiniteList(dure.notifications.list);
  const { mutateAsync: markRead } = useMutation(dure.notifications.markRead);
  const [newest] = list.items;
  const none = t(
    '아직 알림이 없습니다. 제휴 요청이나 답, 저장한 검색에 맞는 새 글이 있으면 여기에서 알려 드립니다.',
    'No notifications yet. Requests, answers and new posts for your saved searches appear here.',
  );
  return (
    <Page
      title={t('알림', 'Notifications')}
      width="narrow"
      actions={
        <div className="row">
          <ButtonLink look="plain" to="/account/alerts" label={t('알림 설정', 'Settings')} />
          {newest && list.items.some(({ is_read }) => !is_read) && (
            <Button
              label={t('모두 읽음으로 표시', 'Mark all as read')}
              onClick={() => markRead({ up_to_id: newest.id })}
            />
          )}
        </div>
      }
    >
      <List
        query={list}
        describeNew={(count) => t(`새 알림 ${count}건`, `New notifications: ${count}`)}
        empty={<Empty text={none} />}
      >
        {(notification) => (
          <Entry notification={notification} onRead={() => markRead({ ids: [notification.id] })} />
        )}
      </List>
    </Page>
  );
}

function Entry({ notification, onRead }: { notification: Notification; onRead: () => Promise<unknown> }) {
  const { message, is_read, created_at } = notification;
  const request = 'partner_request' in notification ? notification.partner_request : undefined;
  const box = notification.kind === 'partner_request_received' ? 'received' : 'sent';
  const path =
    'post' in notification ? `/posts/${notification.post.id}` : request ? `/requests/${request.id}` : '/';
  return (
    <article className="item">
      <h2>
        {!is_read && (
          <>
            <span className="unread-dot" aria-hidden="true" />
            <span className="visually-hidden">{t('읽지 않음:', 'Unread:')} </span>
          </>
        )}
        <Link to={path} onClick={() => is_read || attempt(onRead)}>
          {message}
        </Link>
      </h2>
      <div className="spread">
        <p className="row soft small">
          {request && <RequestStatus status={request.status} box={box} />}
          <Time moment={created_at} />
        </p>
        {!is_read && (
          <Button look="plain small" label={t('읽음으로 표시', 'Mark as read')} onClick={onRead} />
        )}
      </div>
      {request?.status === '수락됨' && (
        <Link className="small" to={`/requests/${request.id}`}>
          {t('연락처 보기', 'Show the contact')}
        </Link>
      )}
      {request && box === 'received' && (
        <>
          <blockquote className="pre-line">{request.message}</blockquote>
          <RequestActions
            id={request.id}
            status={request.status}
            box={box}
            storeName={request.sender_store_name}
          />
        </>
      )}
    </article>
  );
}
