import type { Notification } from '@dure/client';
import { useInfiniteList, useMutation } from '@dure/react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { attempt, Button, ButtonLink, Empty, Item, List, Page, Time, useHeldBack } from '../ui/index.ts';
import { RequestBody, RequestStatus } from './request-parts.tsx';
import './notifications.css';

/** What happened, newest first. Emails about requests link here, so that a request can be answered here, too. */
export function Notifications() {
  const list = useHeldBack(useInfiniteList(dure.notifications.list));
  const { mutateAsync: markRead } = useMutation(dure.notifications.markRead);
  const [newest] = list.items;
  const empty = <Empty text={m.no_notifications_yet_requests_answers()} />;
  return (
    <Page
      title={m.notifications()}
      width="narrow"
      actions={
        <div className="row">
          <ButtonLink look="plain" to="/account/alerts" label={m.settings_2()} />
          {newest && list.items.some(({ is_read }) => !is_read) && (
            <Button label={m.mark_all_as_read()} onClick={() => markRead({ up_to_id: newest.id })} />
          )}
        </div>
      }>
      <List query={list} describeNew={(count) => m.new_notifications({ count })} empty={empty}>
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
    <Item
      heading="h2"
      title={
        <>
          {!is_read && (
            <>
              <span className="unread-dot" aria-hidden="true" />
              <span className="visually-hidden">{m.unread()} </span>
            </>
          )}
          <Link to={path} onClick={() => is_read || attempt(onRead)}>
            {message}
          </Link>
        </>
      }
      below={
        <>
          <div className="spread">
            <p className="row soft small">
              {request && <RequestStatus status={request.status} box={box} />}
              <Time moment={created_at} />
            </p>
            {!is_read && <Button look="plain small" label={m.mark_as_read()} onClick={onRead} />}
          </div>
          {request && (
            <RequestBody
              {...request}
              box={box}
              message={box === 'received' ? request.message : ''}
              storeName={request.sender_store_name}
            />
          )}
        </>
      }
    />
  );
}
