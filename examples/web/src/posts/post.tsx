import { useObject } from '@dure/react';
import { toast } from 'react-hot-toast/headless';
import { useNavigate, useParams } from 'react-router';
import { dure, type Post } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { SendRequest } from '../requests/request-parts.tsx';
import { StoreCard, StoreFirst } from '../stores/store-parts.tsx';
import { t } from '../text.ts';
import { AskButton, Button, ButtonLink, Image, Loaded, Page, Time } from '../ui/index.ts';
import { PostStatus } from './post-parts.tsx';
import { Report } from './report.tsx';

/** One post, with what the reader can do about it. */
export function PostPage() {
  const query = useObject(dure.posts.get, { post_id: Number(useParams()['id']) });
  return (
    <Page
      title={
        query.data?.title ??
        (query.error ? t('글을 볼 수 없습니다', 'Post not available') : t('제휴 글', 'Post'))
      }
      back={{ to: '/', label: t('제휴 글 둘러보기', 'Browse posts') }}
    >
      <Loaded
        query={query}
        missing={t('삭제되었거나 더 이상 공개되지 않는 글입니다.', 'It was deleted or is no longer shown.')}
      >
        {(post) => <Content post={post} />}
      </Loaded>
    </Page>
  );
}

function Content({ post }: { post: Post }) {
  const { store } = useAccount();
  return (
    <div className="post-view">
      <article className="stack">
        <p className="row soft small">
          <Time moment={post.created_at} />
          <PostStatus {...post} />
        </p>
        {post.images.length > 0 && <Gallery images={post.images} />}
        <p className="pre-line">{post.content}</p>
        <div className="row">
          <Share title={post.title} />
          {!post.is_mine && (
            <Report send={(fields) => change(dure.posts.report, { post_id: post.id, ...fields })} />
          )}
        </div>
      </article>
      <aside className="stack" aria-label={t('가게와 제휴 요청', 'Shop and request')}>
        <StoreCard store={post.store} />
        {post.is_mine ? <OwnPost post={post} /> : store ? <SendRequest post={post} /> : <StoreFirst />}
      </aside>
    </div>
  );
}

/** Whole images, side by side. */
function Gallery({ images }: { images: string[] }) {
  return (
    // A scrollable region can be scrolled with the keyboard only when it takes the focus.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <ul className="gallery" tabIndex={0} aria-label={t('사진', 'Photos')}>
      {images.map((url, index) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noreferrer">
            <Image url={url} alt={t(`사진 ${index + 1}`, `Photo ${index + 1}`)} />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Opens what the device shares with, such as KakaoTalk; where there is nothing, copies the link. */
function Share({ title }: { title: string }) {
  async function share() {
    const { href: url } = location;
    if (navigator.share) return navigator.share({ title, url });
    await navigator.clipboard.writeText(url);
    toast(t('링크를 복사했습니다.', 'The link has been copied.'));
  }
  return <Button label={t('공유하기', 'Share')} onClick={share} />;
}

function OwnPost({ post: { id } }: { post: Post }) {
  const navigate = useNavigate();
  return (
    <section className="card row">
      <p className="soft">{t('내 가게에서 올린 글입니다.', 'This is a post of your shop.')}</p>
      <ButtonLink to={`/posts/${id}/edit`} label={t('수정', 'Edit')} />
      <AskButton
        danger
        label={t('삭제', 'Delete')}
        title={t('글을 삭제할까요?', 'Delete this post?')}
        text={t(
          '삭제한 글은 되돌릴 수 없습니다. 답을 기다리는 제휴 요청도 함께 취소됩니다.',
          'It cannot be restored. Requests that wait for an answer are withdrawn.',
        )}
        onConfirm={async () => {
          await change(dure.posts.delete, { post_id: id });
          navigate('/store', { replace: true });
        }}
      />
    </section>
  );
}
