import type { Partner } from '../api.ts';
import { dure } from '../api.ts';
import { Categories } from '../components/categories.tsx';
import { ContactFacts } from '../components/contact-facts.tsx';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Empty } from '../components/states.tsx';
import { RequestTabs } from '../components/tabs.tsx';
import { Time } from '../components/time.tsx';
import { type ListPage, usePages } from '../hooks/use-pages.ts';
import { useLiveNotifications } from '../live.tsx';
import { useLanguage } from '../texts/language.tsx';

/** The stores with which a request is accepted, and how to reach them. */
export function PartnersView() {
  const { t } = useLanguage();
  const partners = usePages(listPartners, []);
  useLiveNotifications((notification) => {
    // What ended leaves the list; a reload of the first page would keep it.
    if (notification.kind === 'partner_request_ended')
      partners.update((partner) => (partner.id === notification.partner_request.id ? undefined : partner));
    else void partners.refresh().catch(() => undefined);
  });
  return (
    <Page title={t.requests.title} width="narrow">
      <RequestTabs current="/partners" />
      <PagedList
        pages={partners}
        empty={
          <Empty text={t.partners.none}>
            <a class="button primary" href="/">
              {t.feed.title}
            </a>
          </Empty>
        }
      >
        {({ store, contact, since, request_id }) => (
          <article class="item">
            <div class="spread">
              <h2>
                <a href={`/stores/${store.id}`}>{store.name}</a>
              </h2>
              <a class="small" href={`/requests/${request_id}`}>
                {t.partners.request}
              </a>
            </div>
            <Categories of={store} />
            <p class="soft small">
              {t.partners.since} <Time moment={since} />
            </p>
            <ContactFacts contact={contact} />
          </article>
        )}
      </PagedList>
    </Page>
  );
}

/** A partner has no id of its own; its request names it. */
async function listPartners(
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<Partner & { id: number }>> {
  const { items, next_cursor } = await dure.stores.listPartners({ cursor }, { signal });
  return { items: items.map((partner) => ({ ...partner, id: partner.request_id })), next_cursor };
}
