import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import { dure, type Post } from '../api.ts';
import { change } from '../app/change.tsx';
import { useAccount } from '../app/session.tsx';
import { t } from '../text.ts';
import { Checkbox, Form, Loaded, Page, TextArea, TextField } from '../ui/index.ts';
import { PhotoFields, usePhotos } from './photos.tsx';

export function NewPost() {
  return (
    <Page
      title={t('글쓰기', 'Write a post')}
      lead={t('어떤 이웃과 무엇을 함께하고 싶은지 적어 주세요.', 'What would you like to do, and with whom?')}
      width="narrow"
      back={{ to: '/', label: t('제휴 글 둘러보기', 'Browse posts') }}
    >
      <PostForm />
    </Page>
  );
}

/** Edits an own post, which is read once: nothing changes while the user types. */
export function EditPost() {
  const post_id = Number(useParams()['id']);
  const query = useQuery({
    queryKey: ['edited post', post_id],
    queryFn: () => dure.request('getPost', { post_id }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const back = { to: `/posts/${post_id}`, label: t('제휴 글', 'Post') };
  return (
    <Page title={t('글 수정', 'Edit post')} width="narrow" back={back}>
      <Loaded query={query}>
        {({ data, headers }) => <PostForm post={data} etag={headers.get('etag') ?? undefined} />}
      </Loaded>
    </Page>
  );
}

function PostForm({ post, etag }: { post?: Post; etag?: string | undefined }) {
  const navigate = useNavigate();
  const { user } = useAccount();
  // A draft belongs to the version of the post that was edited.
  const draft = post ? `post-${post.id}-${post.updated_at}` : `post-of-${user.id}`;
  const photos = usePhotos(draft, post?.images ?? []);

  async function save(read: (name: string) => string, data: FormData) {
    const texts = { title: read('title'), content: read('content'), closes_on: read('closes_on') || null };
    const fields = { ...texts, images: await photos.uploaded() };
    const status = data.has('closed') ? 'closed' : 'open';
    // With the ETag, what was changed elsewhere in the meantime is not overwritten.
    const { id } = post
      ? await change(dure.posts.update, { post_id: post.id, status, ...fields }, { ifMatch: etag })
      : await change(dure.posts.create, fields);
    photos.forget();
    navigate(`/posts/${id}`, { replace: true });
  }

  return (
    <Form draft={draft} submitLabel={post ? t('저장', 'Save') : t('글 올리기', 'Publish')} onSubmit={save}>
      <TextField
        name="title"
        label={t('제목', 'Title')}
        hint={t(
          '예: 어버이날 세트를 함께 만들 꽃집을 찾습니다',
          'Such as: Looking for a florist for a gift set',
        )}
        maxLength={100}
        defaultValue={post?.title}
      />
      <TextArea
        name="content"
        label={t('내용', 'Text')}
        hint={t(
          '기간, 방식, 서로에게 좋은 점을 적으면 답을 받기 쉽습니다.',
          'When, how, and what both gain.',
        )}
        maxLength={5000}
        defaultValue={post?.content}
      />
      <PhotoFields {...photos} />
      <TextField
        name="closes_on"
        type="date"
        label={t('마감일', 'Last day')}
        hint={t('이날이 지나면 새 요청을 받지 않습니다.', 'After it, the post takes no more requests.')}
        optional
        defaultValue={post?.closes_on ?? ''}
      />
      {post && (
        <Checkbox
          name="closed"
          label={t('마감하고 새 요청 받지 않기', 'Closed: take no new requests')}
          defaultChecked={post.status === 'closed'}
        />
      )}
    </Form>
  );
}
