import { useInfiniteList } from '@dure/react';
import { Link } from 'react-router';
import { dure, type Store } from '../api.ts';
import { useAccount } from '../app/session.tsx';
import { PostCard } from '../posts/post-card.tsx';
import { t } from '../text.ts';
import { Empty, Facts, List, Page } from '../ui/index.ts';
import { Categories, StoreFirst } from './store-parts.tsx';

/** The own store with its posts, or the way to register one. */
export function OwnStore() {
  const { store } = useAccount();
  const edit = (
    <Link className="button" to="/store/edit">
      {t('가게 정보 수정', 'Edit shop')}
    </Link>
  );
  return (
    <Page title={store?.name ?? t('내 가게', 'My shop')} actions={store && edit}>
      {store ? <StoreView store={store} isOwn /> : <StoreFirst />}
    </Page>
  );
}

/** What a store says about itself, and its posts. */
export function StoreView({ store, isOwn = false }: { store: Store; isOwn?: boolean }) {
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
          {isOwn && (
            <Link className="button primary" to="/posts/new">
              {t('글쓰기', 'Write a post')}
            </Link>
          )}
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
