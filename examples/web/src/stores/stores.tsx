import type { Store } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { useParams } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { nothingFound, useSearch } from '../posts/filters.ts';
import { PostCard, Tile } from '../posts/post-parts.tsx';
import { Report } from '../posts/report.tsx';
import { Search } from '../posts/search.tsx';
import { describeDistance } from '../text.ts';
import { ButtonLink, Empty, Facts, List, Loaded, Page } from '../ui/index.ts';
import { Categories, StoreFirst } from './store-parts.tsx';

export function Stores() {
  const { filters } = useSearch();
  const stores = useInfiniteList(dure.stores.list, filters);
  const none = nothingFound(filters, m.no_shops_found_try_other());
  return (
    <Page title={m.browse_shops()}>
      <Search path="/stores" label={m.search_shops()} />
      <List
        className="posts"
        query={stores}
        empty={<Empty text={none} to="/stores" label={m.show_all_shops()} />}>
        {({ id, distance_m, description, ...store }) => {
          const distance = distance_m !== null && describeDistance(distance_m);
          const facts = [distance, store.address].filter(Boolean).join(' · ');
          return (
            <Tile to={`/stores/${id}`} title={store.name} image={store.thumbnail} facts={facts}>
              <Categories of={store} />
              {description && <p className="small clamped">{description}</p>}
            </Tile>
          );
        }}
      </List>
    </Page>
  );
}

export function StorePage() {
  const store_id = Number(useParams()['id']);
  const query = useObject(dure.stores.get, { store_id });
  const { store: own } = useAccount();
  return (
    <Page title={query.data?.name ?? m.shop()} back={{ to: '/stores', label: m.browse_shops() }}>
      <Loaded query={query}>
        {(store) => (
          <div className="stack">
            <StoreView store={store} />
            {own?.id !== store_id && (
              <Report send={(fields) => change(dure.stores.report, { store_id, ...fields })} />
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

export function OwnStore() {
  const { store } = useAccount();
  const edit = <ButtonLink to="/store/edit" label={m.edit_shop()} />;
  return (
    <Page title={store?.name ?? m.my_shop()} actions={store && edit}>
      {store ? <StoreView store={store} isOwn /> : <StoreFirst />}
    </Page>
  );
}

function StoreView({ store, isOwn = false }: { store: Store; isOwn?: boolean }) {
  const posts = useInfiniteList(dure.posts.list, isOwn ? { mine: true } : { store_id: store.id });
  const { description, address, business_hours, phone_number } = store;
  return (
    <div className="stack">
      <section className="card stack" aria-label={m.about_the_shop_2()}>
        <Categories of={store} />
        {description && <p className="pre-line">{description}</p>}
        <Facts
          facts={{
            [m.address()]: address,
            [m.opening_hours()]: business_hours,
            [m.telephone()]: phone_number && <a href={`tel:${phone_number}`}>{phone_number}</a>,
          }}
        />
      </section>
      <section className="stack">
        <div className="spread">
          <h2>{m.posts_2()}</h2>
          {isOwn && <ButtonLink look="primary" to="/posts/new" label={m.write_a_post()} />}
        </div>
        <List className="posts" query={posts} empty={<Empty text={m.no_posts_yet_2()} />}>
          {({ store: _, ...post }) => <PostCard heading="h3" post={post} />}
        </List>
      </section>
    </div>
  );
}
