import type { PartnerRequestDetail } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import type { ReactNode } from 'react';
import { Link, useParams, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { PostCard } from '../posts/post-parts.tsx';
import { Categories, StoreCard } from '../stores/store-parts.tsx';
import { Card, Empty, Item, List, Loaded, Page, Tabs, Time, useHeldBack } from '../ui/index.ts';
import { ContactCard, RequestActions, RequestBody, RequestStatus, Step } from './request-parts.tsx';

const title = m.partnership_requests;
const browse = () => ({ to: '/', label: m.browse_posts() });

function RequestsPage({ current, children }: { current: string; children: ReactNode }) {
  const tabs = { '/requests': m.received(), '/requests?box=sent': m.sent(), '/partners': m.partners() };
  return (
    <Page title={title()} width="narrow">
      <Tabs label={title()} tabs={tabs} current={current} />
      {children}
    </Page>
  );
}

/** Partnership requests, received or sent. New ones and their answers appear by themselves. */
export function Requests() {
  const isSent = useSearchParams()[0].get('box') === 'sent';
  const box = isSent ? 'sent' : 'received';
  const requests = useHeldBack(useInfiniteList(dure.partnerRequests.list, { box }));
  const empty = isSent
    ? { text: m.no_requests_yet_find_a(), ...browse() }
    : { text: m.no_requests_yet_write_a(), to: '/posts/new', label: m.write_a_post() };
  return (
    <RequestsPage current={isSent ? '/requests?box=sent' : '/requests'}>
      <List
        key={box}
        query={requests}
        describeNew={(count) => m.new_requests_2({ count })}
        empty={<Empty {...empty} />}>
        {(request) => {
          const name = request.box === 'sent' ? request.receiver_store_name : request.sender_store.name;
          return (
            <Item
              heading="h2"
              title={<Link to={`/requests/${request.id}`}>{name}</Link>}
              actions={<RequestStatus {...request} />}
              below={<RequestBody {...request} storeName={name} />}>
              <Link to={`/posts/${request.post_id}`}>{request.post_title}</Link> ·{' '}
              <Time moment={request.created_at} />
            </Item>
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
      title={request ? otherStore(request).name : title()}
      width="narrow"
      back={{ to: request?.box === 'sent' ? '/requests?box=sent' : '/requests', label: title() }}
      actions={request && <RequestStatus {...request} />}>
      <Loaded query={query}>
        {(request) => {
          const { id, status, box, contact, post } = request;
          const other = otherStore(request);
          // After an acceptance, the contact comes first and the end of the partnership last.
          return (
            <>
              {contact && (
                <Card title={m.contact()}>
                  <ContactCard contact={contact} />
                </Card>
              )}
              <section className="card stack">
                <p className="soft small">
                  {box === 'sent' ? m.sent_2() : m.received_2()} · <Time moment={request.created_at} />
                </p>
                <blockquote className="pre-line">{request.message}</blockquote>
                <RequestActions id={id} status={status} box={box} storeName={other.name} />
              </section>
              <StoreCard store={other} />
              {post ? <PostCard post={post} /> : <p className="note">{m.the_post_of_this_request()}</p>}
              {status === '수락됨' && <Step step="end" id={id} storeName={other.name} />}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

const otherStore = (request: PartnerRequestDetail) =>
  request.box === 'sent' ? request.receiver_store : request.sender_store;

export function Partners() {
  const partners = useInfiniteList(dure.stores.listPartners);
  // A partner has no id of its own; its request names it.
  const items = partners.items.map((partner) => ({ ...partner, id: partner.request_id }));
  const empty = <Empty text={m.no_partners_yet_once_a()} {...browse()} />;
  return (
    <RequestsPage current="/partners">
      <List query={{ ...partners, items }} empty={empty}>
        {({ store, contact, since, request_id }) => (
          <Item
            heading="h2"
            title={<Link to={`/stores/${store.id}`}>{store.name}</Link>}
            actions={
              <Link className="small" to={`/requests/${request_id}`}>
                {m.show_request()}
              </Link>
            }
            below={
              <>
                <Categories of={store} />
                <ContactCard contact={contact} />
              </>
            }>
            {m.partners_since()} <Time moment={since} />
          </Item>
        )}
      </List>
    </RequestsPage>
  );
}
