import { useInfiniteList, useObject } from '@dure/react';
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { dure, type RequestDetail } from '../api.ts';
import { PostCard } from '../posts/post-parts.tsx';
import { Categories, StoreCard } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { Card, Empty, List, Loaded, Page, Tabs, Time } from '../ui/index.ts';
import { ContactCard, EndPartnership, RequestActions, RequestStatus } from './request-parts.tsx';

const title = t('제휴 요청', 'Partnership requests');
const browse = { to: '/', label: t('제휴 글 둘러보기', 'Browse posts') };

function RequestsPage({ current, children }: { current: string; children: ReactNode }) {
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
  const isSent = useSearchParams()[0].get('box') === 'sent';
  const requests = useInfiniteList(dure.partnerRequests.list, { box: isSent ? 'sent' : 'received' });
  const noneSent = t(
    '아직 보낸 요청이 없습니다. 마음에 드는 글을 찾아 제휴를 요청해 보세요.',
    'No requests yet. Find a post that you like and send a request.',
  );
  const noneReceived = t(
    '아직 받은 요청이 없습니다. 글을 올리면 이웃 가게가 제휴를 요청할 수 있습니다.',
    'No requests yet. Write a post, so that other shops can answer it.',
  );
  const write = { to: '/posts/new', label: t('글쓰기', 'Write a post') };
  return (
    <RequestsPage current={isSent ? '/requests?box=sent' : '/requests'}>
      <List
        key={String(isSent)}
        query={requests}
        describeNew={(count) => t(`새 요청 ${count}건`, `New requests: ${count}`)}
        empty={isSent ? <Empty text={noneSent} {...browse} /> : <Empty text={noneReceived} {...write} />}
      >
        {(request) => {
          const { id, status, box } = request;
          const name = box === 'sent' ? request.receiver_store_name : request.sender_store.name;
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
              <RequestActions id={id} status={status} box={box} storeName={name} />
              {status === '수락됨' && (
                <Link className="small" to={`/requests/${id}`}>
                  {t(
                    '제휴가 맺어졌습니다. 연락처를 확인하고 이야기를 나눠 보세요.',
                    'You are partners now. See how to get in touch.',
                  )}
                </Link>
              )}
            </article>
          );
        }}
      </List>
    </RequestsPage>
  );
}

/** One request, with what its side can do about it. Emails about requests link here. */
export function RequestPage() {
  const query = useObject(dure.partnerRequests.get, { partner_request_id: Number(useParams()['id']) });
  const request = query.data;
  return (
    <Page
      title={request ? otherStore(request).name : title}
      width="narrow"
      back={{ to: request?.box === 'sent' ? '/requests?box=sent' : '/requests', label: title }}
      actions={request && <RequestStatus {...request} />}
    >
      <Loaded query={query}>{(request) => <Detail request={request} />}</Loaded>
    </Page>
  );
}

const otherStore = (request: RequestDetail) =>
  request.box === 'sent' ? request.receiver_store : request.sender_store;

/** After an acceptance, the contact comes first and the end of the partnership last. */
function Detail({ request }: { request: RequestDetail }) {
  const { id, status, box, contact, post } = request;
  const other = otherStore(request);
  return (
    <>
      {contact && (
        <Card title={t('연락처', 'Contact')}>
          <ContactCard contact={contact} />
        </Card>
      )}
      <section className="card stack">
        <p className="soft small">
          <Time moment={request.created_at} /> {box === 'sent' ? t('보냄', 'sent') : t('받음', 'received')}
        </p>
        <blockquote className="pre-line">{request.message}</blockquote>
        <RequestActions id={id} status={status} box={box} storeName={other.name} />
      </section>
      <StoreCard store={other} />
      {post ? (
        <PostCard post={post} />
      ) : (
        <p className="note">{t('이 요청의 글은 삭제되었습니다.', 'The post of this request was deleted.')}</p>
      )}
      {status === '수락됨' && <EndPartnership id={id} storeName={other.name} />}
    </>
  );
}

/** The stores with which a request is accepted, and how to reach them. */
export function Partners() {
  const partners = useInfiniteList(dure.stores.listPartners);
  // A partner has no id of its own; its request names it.
  const items = partners.items.map((partner) => ({ ...partner, id: partner.request_id }));
  const none = t(
    '아직 제휴한 가게가 없습니다. 요청이 수락되면 여기에서 연락처를 볼 수 있습니다.',
    'No partners yet. Once a request is accepted, this page shows how to get in touch.',
  );
  return (
    <RequestsPage current="/partners">
      <List query={{ ...partners, items }} empty={<Empty text={none} {...browse} />}>
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
