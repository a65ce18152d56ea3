import { useInfiniteList } from '@dure/react';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { Categories } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { Empty, List, Page, Tabs, Time } from '../ui/index.ts';
import { AnswerRequest, ContactCard, ContactLink, RequestStatus, WithdrawRequest } from './request-parts.tsx';

function RequestsPage({ current, children }: { current: string; children: ReactNode }) {
  const title = t('제휴 요청', 'Partnership requests');
  const tabs = {
    '/requests': t('받은 요청', 'Received'),
    '/requests?box=sent': t('보낸 요청', 'Sent'),
    '/partners': t('제휴 가게', 'Partners'),
  };
  return (
    <Page title={title} width="narrow">
      <Tabs label={title} tabs={tabs} current={current} />
      {children}
    </Page>
  );
}

/** Partnership requests, received or sent. New ones and their answers appear by themselves. */
export function Requests() {
  const [query] = useSearchParams();
  const box = query.get('box') === 'sent' ? 'sent' : 'received';
  const requests = useInfiniteList(dure.partnerRequests.list, { box });
  return (
    <RequestsPage current={box === 'sent' ? '/requests?box=sent' : '/requests'}>
      <List query={requests} empty={box === 'sent' ? <NoneSent /> : <NoneReceived />}>
        {(request) => {
          const { id, status } = request;
          const name = request.box === 'sent' ? request.receiver_store_name : request.sender_store.name;
          return (
            <article className="item">
              <div className="spread">
                <h2>
                  <Link to={`/requests/${id}`}>{name}</Link>
                </h2>
                <RequestStatus status={status} box={box} />
              </div>
              <p className="soft small">
                <Link to={`/posts/${request.post_id}`}>{request.post_title}</Link> ·{' '}
                <Time moment={request.created_at} />
              </p>
              <blockquote className="pre-line">{request.message}</blockquote>
              {status === '요청됨' && box === 'received' && <AnswerRequest id={id} storeName={name} />}
              {status === '요청됨' && box === 'sent' && <WithdrawRequest id={id} storeName={name} />}
              {status === '수락됨' && <ContactLink id={id} />}
            </article>
          );
        }}
      </List>
    </RequestsPage>
  );
}

function NoneReceived() {
  return (
    <Empty
      text={t(
        '아직 받은 요청이 없습니다. 글을 올리면 이웃 가게가 제휴를 요청할 수 있습니다.',
        'No requests yet. Write a post, so that other shops can answer it.',
      )}
    >
      <Link className="button primary" to="/posts/new">
        {t('글쓰기', 'Write a post')}
      </Link>
    </Empty>
  );
}

function NoneSent() {
  return (
    <Empty
      text={t(
        '아직 보낸 요청이 없습니다. 마음에 드는 글을 찾아 제휴를 요청해 보세요.',
        'No requests yet. Find a post that you like and send a request.',
      )}
    >
      <Link className="button primary" to="/">
        {t('제휴 글 둘러보기', 'Browse posts')}
      </Link>
    </Empty>
  );
}

/** The stores with which a request is accepted, and how to reach them. */
export function Partners() {
  const partners = useInfiniteList(dure.stores.listPartners);
  // A partner has no id of its own; its request names it.
  const items = partners.items.map((partner) => ({ ...partner, id: partner.request_id }));
  return (
    <RequestsPage current="/partners">
      <List
        query={{ ...partners, items }}
        empty={
          <Empty
            text={t(
              '아직 제휴한 가게가 없습니다. 요청이 수락되면 여기에서 연락처를 볼 수 있습니다.',
              'No partners yet. Once a request is accepted, this page shows how to get in touch.',
            )}
          >
            <Link className="button primary" to="/">
              {t('제휴 글 둘러보기', 'Browse posts')}
            </Link>
          </Empty>
        }
      >
        {({ store, contact, since, request_id }) => (
          <article className="item">
            <div className="spread">
              <h2>
                <Link to={`/stores/${store.id}`}>{store.name}</Link>
              </h2>
              <Link className="small" to={`/requests/${request_id}`}>
                {t('요청 보기', 'Show request')}
              </Link>
            </div>
            <Categories of={store} />
            <p className="soft small">
              {t('제휴 시작:', 'Partners since')} <Time moment={since} />
            </p>
            <ContactCard contact={contact} />
          </article>
        )}
      </List>
    </RequestsPage>
  );
}
