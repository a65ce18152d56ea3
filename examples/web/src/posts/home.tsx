import { useInfiniteList, useSession } from '@dure/react';
import { useEffect } from 'react';
import { useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { useOwnStore } from '../app/session.tsx';
import { StoreFirst } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { ButtonLink, Empty, List, Page, Skeleton } from '../ui/index.ts';
import { nothingFound, useSearch } from './filters.ts';
import { PostCard } from './post-parts.tsx';
import { Search } from './search.tsx';

/** The feed, or, without a login, what the app is for. */
export function Home() {
  const { status } = useSession();
  if (status === 'loading') return <Skeleton />;
  return status === 'signed_in' ? <Feed /> : <Welcome />;
}

/** Open or closed posts of all stores, newest or nearest first, with search. */
function Feed() {
  const { filters, isSearch } = useSearch();
  const isClosed = useSearchParams()[0].get('status') === 'closed';
  const path = isClosed ? '/?status=closed' : '/';
  const posts = useInfiniteList(dure.posts.list, { ...filters, status: isClosed ? 'closed' : 'open' });
  const { data: store } = useOwnStore();
  const none = isSearch
    ? nothingFound(
        filters,
        t('찾으시는 글이 없습니다. 조건을 바꿔 보세요.', 'No posts found. Try other filters.'),
      )
    : t('아직 글이 없습니다.', 'No posts yet.');
  const write = <ButtonLink look="primary" to="/posts/new" label={t('글쓰기', 'Write a post')} />;
  return (
    <Page title={t('제휴 글 둘러보기', 'Browse posts')} actions={store && write}>
      {store === null && <StoreFirst />}
      <Search path={path} label={t('글 검색', 'Search posts')} />
      <List
        className="posts"
        query={posts}
        empty={<Empty text={none} to={isSearch && path} label={t('모든 글 보기', 'Show all posts')} />}
      >
        {(post) => <PostCard post={post} />}
      </List>
    </Page>
  );
}

/** What Dure is for, for visitors who are not signed in. */
function Welcome() {
  useEffect(() => {
    document.title = t('두레', 'Dure');
  }, []);
  const steps = [
    [
      t('가게를 등록합니다', 'Register your shop'),
      t('어떤 가게인지 이웃에게 소개해 주세요.', 'Tell your neighbours what you do.'),
    ],
    [
      t('제휴를 찾습니다', 'Find a partner'),
      t('글을 올리거나 다른 가게의 글을 둘러보세요.', 'Post what you look for, or browse what others offer.'),
    ],
    [
      t('손을 잡습니다', 'Work together'),
      t('제휴를 요청하고 답을 바로 받아 보세요.', 'Send a request, and get the response right here.'),
    ],
  ];
  return (
    <>
      <div className="hero">
        <div className="stack">
          <h1 className="pre-line">
            {t('이웃 가게와\n함께 키우는 동네', 'Good neighbours\nmake good business')}
          </h1>
          <p className="soft">
            {t(
              '꽃집과 카페, 책방과 빵집. 두레에서 우리 가게와 잘 맞는 이웃을 찾고 제휴를 제안해 보세요.',
              'A florist and a café, a bookshop and a bakery: find the shop next door that fits yours.',
            )}
          </p>
          <div className="row">
            <ButtonLink look="primary" to="/signup" label={t('무료로 시작하기', 'Start for free')} />
            <ButtonLink to="/login" label={t('로그인', 'Log in')} />
          </div>
        </div>
        <img src="/neighbours.svg" alt="" width="480" height="260" />
      </div>
      <h2 className="visually-hidden">{t('이용 방법', 'How it works')}</h2>
      <ol className="steps">
        {steps.map(([title, text], index) => (
          <li className="card" key={title}>
            <span className="number" aria-hidden="true">
              {index + 1}
            </span>
            <h3>{title}</h3>
            <p className="soft">{text}</p>
          </li>
        ))}
      </ol>
    </>
  );
}
