import type { CallOptions } from '@dure/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from 'react-router';
import { dure, type Post } from '../api.ts';
import { change } from '../app/change.ts';
import { t } from '../text.ts';
import { Checkbox, Empty, Form, Loaded, Page, TextArea, TextField } from '../ui/index.ts';
import { PhotoFields, uploadedUrls } from './photos.tsx';

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
        {({ data, headers }) =>
          data.is_mine ? (
            <PostForm post={data} etag={headers.get('etag') ?? undefined} refetch={query.refetch} />
          ) : (
            <Empty
              text={t('직접 쓴 글만 수정할 수 있습니다.', 'Only your own posts can be edited.')}
              to={back.to}
              label={t('글 보기', 'Show the post')}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

interface PostFormProps {
  post?: Post;
  etag?: string | undefined;
  refetch?: () => unknown;
}

function PostForm({ post, etag, refetch }: PostFormProps) {
  const navigate = useNavigate();
  const { title = '', content = '', images = [], closes_on, status } = post ?? {};
  const values = { title, content, images, closes_on: closes_on ?? '', closed: status === 'closed' };

  async function save({ closed, ...entered }: typeof values, { idempotencyKey, ifMatch }: CallOptions) {
    const images = await uploadedUrls(entered.images);
    const fields = { ...entered, images, closes_on: entered.closes_on || null };
    const { id } = post
      ? await change(
          dure.posts.update,
          { post_id: post.id, status: closed ? 'closed' : 'open', ...fields },
          { ifMatch },
        )
      : await change(dure.posts.create, fields, { idempotencyKey });
    navigate(`/posts/${id}`, { replace: true });
  }

  return (
    <Form
      values={values}
      version={etag}
      draft={post ? `post-${post.id}` : 'post'}
      submitLabel={post ? t('저장', 'Save') : t('글 올리기', 'Publish')}
      pendingLabel={post ? t('저장하는 중…', 'Saving…') : t('올리는 중…', 'Publishing…')}
      onSubmit={save}
      refetch={refetch}
    >
      <TextField
        name="title"
        label={t('제목', 'Title')}
        hint={t(
          '예: 어버이날 세트를 함께 만들 꽃집을 찾습니다',
          'Such as: Looking for a florist for a gift set',
        )}
        maxLength={100}
      />
      <TextArea
        name="content"
        label={t('내용', 'Text')}
        hint={t(
          '기간, 방식, 서로에게 좋은 점을 적으면 답을 받기 쉽습니다.',
          'When, how, and what both gain.',
        )}
        maxLength={5000}
      />
      <PhotoFields />
      <TextField
        name="closes_on"
        type="date"
        label={t('마감일', 'Last day')}
        hint={t('이날이 지나면 새 요청을 받지 않습니다.', 'After it, the post takes no more requests.')}
        optional
      />
      {post && (
        <Checkbox name="closed" label={t('마감하고 새 요청 받지 않기', 'Closed: take no new requests')} />
      )}
    </Form>
  );
}
