import { useInfiniteList, useObject } from '@dure/react';
import { useParams } from 'react-router';
import { dure, type Store } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { nothingFound, useSearch } from '../posts/filters.ts';
import { PostCard, Tile } from '../posts/post-parts.tsx';
import { Report } from '../posts/report.tsx';
import { Search } from '../posts/search.tsx';
import { describeDistance, t } from '../text.ts';
import { ButtonLink, Empty, Facts, List, Loaded, Page } from '../ui/index.ts';
import { Categories, StoreFirst } from './store-parts.tsx';

/** Stores of the neighbourhood, newest or nearest first, with search by name, address and description. */
export function Stores() {
  const { filters } = useSearch();
  const stores = useInfiniteList(dure.stores.list, filters);
  return (
    <Page title={t('가게 둘러보기', 'Browse shops')}>
      <Search path="/stores" label={t('가게 검색', 'Search shops')} />
      <List
        className="posts"
        query={stores}
        empty={
          <Empty
            text={nothingFound(
              filters,
              t('찾으시는 가게가 없습니다. 조건을 바꿔 보세요.', 'No shops found. Try other filters.'),
            )}
            to="/stores"
            label={t('모든 가게 보기', 'Show all shops')}
          />
        }
      >
        {({ distance_m, address, description, ...store }) => (
          <Tile
            to={`/stores/${store.id}`}
            title={store.name}
            image={store.thumbnail}
            facts={[distance_m !== null && describeDistance(distance_m), address].filter(Boolean).join(' · ')}
          >
            <Categories of={store} />
            {description && <p className="small clamped">{description}</p>}
          </Tile>
        )}
      </List>
    </Page>
  );
}

/** Another store, with its posts. */
export function StorePage() {
  const store_id = Number(useParams()['id']);
  const query = useObject(dure.stores.get, { store_id });
  const { store: own } = useAccount();
  return (
    <Page
      title={query.data?.name ?? t('가게', 'Shop')}
      back={{ to: '/stores', label: t('가게 둘러보기', 'Browse shops') }}
    >
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

/** The own store with its posts, or the way to register one. */
export function OwnStore() {
  const { store } = useAccount();
  const edit = <ButtonLink to="/store/edit" label={t('가게 정보 수정', 'Edit shop')} />;
  return (
    <Page title={store?.name ?? t('내 가게', 'My shop')} actions={store && edit}>
      {store ? <StoreView store={store} isOwn /> : <StoreFirst />}
    </Page>
  );
}

/** What a store says about itself, and its posts. */
function StoreView({ store, isOwn = false }: { store: Store; isOwn?: boolean }) {
  const posts = useInfiniteList(dure.posts.list, isOwn ? { mine: true } : { store_id: store.id });
  const { description, address, business_hours, phone_number } = store;
  return (
    <div className="stack">
      <section className="card stack" aria-label={t('가게 정보', 'About the shop')}>
        <Categories of={store} />
        {description && <p className="pre-line">{description}</p>}
        <Facts
          facts={{
            [t('주소', 'Address')]: address,
            [t('영업시간', 'Opening hours')]: business_hours,
            [t('전화번호', 'Telephone')]: phone_number && <a href={`tel:${phone_number}`}>{phone_number}</a>,
          }}
        />
      </section>
      <section className="stack">
        <div className="spread">
          <h2>{t('올린 글', 'Posts')}</h2>
          {isOwn && <ButtonLink look="primary" to="/posts/new" label={t('글쓰기', 'Write a post')} />}
        </div>
        <List
          className="posts"
          query={posts}
          empty={<Empty text={t('아직 올린 글이 없습니다.', 'No posts yet.')} />}
        >
          {({ store: _, ...post }) => <PostCard heading="h3" post={post} />}
        </List>
      </section>
    </div>
  );
}
