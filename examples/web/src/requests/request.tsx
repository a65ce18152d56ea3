import { useObject } from '@dure/react';
import { Link, useParams } from 'react-router';
import { dure, type RequestDetail } from '../api.ts';
import { PostCard } from '../posts/post-card.tsx';
import { Categories } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { Card, Loaded, Page, Time } from '../ui/index.ts';
import {
  AnswerRequest,
  ContactCard,
  EndPartnership,
  RequestStatus,
  WithdrawRequest,
} from './request-parts.tsx';

/** One request, with what its side can do about it. Emails about requests link here. */
export function RequestPage() {
  const id = Number(useParams()['id']);
  const query = useObject(dure.partnerRequests.get, { partner_request_id: id });
  const request = query.data;
  const title = t('제휴 요청', 'Partnership requests');
  const isSent = request?.box === 'sent';
  return (
    <Page
      title={request ? otherStore(request).name : title}
      width="narrow"
      back={{ to: isSent ? '/requests?box=sent' : '/requests', label: title }}
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
    <div className="stack">
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
        {status === '요청됨' && box === 'received' && <AnswerRequest id={id} storeName={other.name} />}
        {status === '요청됨' && box === 'sent' && <WithdrawRequest id={id} storeName={other.name} />}
      </section>
      <section className="card stack">
        <h2>
          <Link to={`/stores/${other.id}`}>{other.name}</Link>
        </h2>
        <Categories of={other} />
      </section>
      {post ? (
        <PostCard post={post} />
      ) : (
        <p className="note">{t('이 요청의 글은 삭제되었습니다.', 'The post of this request was deleted.')}</p>
      )}
      {status === '수락됨' && <EndPartnership id={id} storeName={other.name} />}
    </div>
  );
}
