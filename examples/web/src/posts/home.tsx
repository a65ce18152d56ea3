import { useInfiniteList, useSession } from '@dure/react';
import { useEffect } from 'react';
import { useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { useOwnStore } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { StoreFirst } from '../stores/store-parts.tsx';
import { ButtonLink, Empty, List, Page, Skeleton } from '../ui/index.ts';
import { nothingFound, useSearch } from './filters.ts';
import { PostCard } from './post-parts.tsx';
import { Search } from './search.tsx';
import './home.css';

export function Home() {
  const { status } = useSession();
  if (status === 'loading') return <Skeleton />;
  return status === 'signed_in' ? <Feed /> : <Welcome />;
}

function Feed() {
  const { filters, isSearch } = useSearch();
  const isClosed = useSearchParams()[0].get('status') === 'closed';
  const path = isClosed ? '/?status=closed' : '/';
  const posts = useInfiniteList(dure.posts.list, { ...filters, status: isClosed ? 'closed' : 'open' });
  const { data: store } = useOwnStore();
  const none = isSearch ? nothingFound(filters, m.no_posts_found_try_other()) : m.no_posts_yet();
  const write = <ButtonLink look="primary" to="/posts/new" label={m.write_a_post()} />;
  return (
    <Page title={m.browse_posts()} actions={store && write}>
      {store === null && <StoreFirst />}
      <Search path={path} label={m.search_posts()} />
      <List
        className="posts"
        query={posts}
        empty={<Empty text={none} to={isSearch && path} label={m.show_all_posts()} />}>
        {(post) => <PostCard post={post} />}
      </List>
    </Page>
  );
}

function Welcome() {
  useEffect(() => {
    document.title = m.dure();
  }, []);
  const steps = [
    [m.register_your_shop(), m.tell_your_neighbours_what_you()],
    [m.find_a_partner(), m.post_what_you_look_for()],
    [m.work_together(), m.send_a_request_and_get()],
  ];
  return (
    <>
      <div className="hero">
        <div className="stack">
          <h1 className="pre-line">{m.good_neighbours_make_good_business()}</h1>
          <p className="soft">{m.a_florist_and_a_caf()}</p>
          <div className="row">
            <ButtonLink look="primary" to="/signup" label={m.start_for_free()} />
            <ButtonLink to="/login" label={m.log_in()} />
          </div>
        </div>
        <img src="/neighbours.svg" alt="" width="480" height="260" />
      </div>
      <h2 className="visually-hidden">{m.how_it_works()}</h2>
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
