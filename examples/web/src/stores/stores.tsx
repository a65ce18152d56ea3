import { useInfiniteList, useMutation, useObject } from '@dure/react';
import { Link, useParams } from 'react-router';
import { dure } from '../api.ts';
import { useAccount } from '../app/session.tsx';
import { Tile } from '../posts/post-card.tsx';
import { Report } from '../posts/report.tsx';
import { Search, useSearch } from '../posts/search.tsx';
import { describeDistance, t } from '../text.ts';
import { Empty, List, Loaded, Page } from '../ui/index.ts';
import { StoreView } from './own-store.tsx';
import { Categories } from './store-parts.tsx';

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
            text={t('찾으시는 가게가 없습니다. 조건을 바꿔 보세요.', 'No shops found. Try other filters.')}
          >
            <Link className="button" to="/stores">
              {t('모든 가게 보기', 'Show all shops')}
            </Link>
          </Empty>
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
  const report = useMutation(dure.stores.report);
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
              <Report send={(fields) => report.mutateAsync({ store_id, ...fields })} />
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}
