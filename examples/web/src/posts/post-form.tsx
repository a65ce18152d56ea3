import type { Input } from '@dure/client';
import { useMutation } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { toast } from 'react-hot-toast/headless';
import { useNavigate, useParams } from 'react-router';
import { dure, type Post } from '../api.ts';
import { useAccount } from '../app/session.tsx';
import { t } from '../text.ts';
import { Checkbox, TextArea, TextField } from '../ui/fields.tsx';
import { Form } from '../ui/form.tsx';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/states.tsx';
import { PhotoFields, usePhotos } from './photos.tsx';

/** Writes a post. */
export function NewPost() {
  const create = useMutation(dure.posts.create);
  return (
    <Page
      title={t('글쓰기', 'Write a post')}
      lead={t(
        '어떤 이웃과 무엇을 함께하고 싶은지 적어 주세요.',
        'What would you like to do, and with which kind of shop?',
      )}
      width="narrow"
      back={{ to: '/', label: t('제휴 글 둘러보기', 'Browse posts') }}
    >
      <PostForm submitLabel={t('글 올리기', 'Publish')} save={(fields) => create.mutateAsync(fields)} />
    </Page>
  );
}

/** Edits an own post. It is read once, so that nothing changes under the user's hands. */
export function EditPost() {
  const post_id = Number(useParams()['id']);
  const query = useQuery({
    queryKey: ['edited post', post_id],
    queryFn: () => dure.request('getPost', { post_id }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const update = useMutation(dure.posts.update, {
    // What was changed elsewhere in the meantime is not overwritten.
    call: { ifMatch: query.data?.headers.get('etag') ?? undefined },
    onSuccess: () => toast(t('저장했습니다.', 'Saved.')),
  });
  return (
    <Page
      title={t('글 수정', 'Edit post')}
      width="narrow"
      back={{ to: `/posts/${post_id}`, label: t('제휴 글', 'Post') }}
    >
      <Loaded query={query}>
        {({ data: post }) => (
          <PostForm
            post={post}
            submitLabel={t('저장', 'Save')}
            save={(fields, data) =>
              update.mutateAsync({ post_id, ...fields, status: data.has('closed') ? 'closed' : 'open' })
            }
          />
        )}
      </Loaded>
    </Page>
  );
}

interface PostFormProps {
  post?: Post;
  submitLabel: string;
  save: (fields: Input<'createPost'>, data: FormData) => Promise<Post>;
}

function PostForm({ post, submitLabel, save }: PostFormProps) {
  const navigate = useNavigate();
  const { user } = useAccount();
  // Of this version of the post: changes of another one do not belong here.
  const draft = post ? `post-${post.id}-${post.updated_at}` : `post-of-${user.id}`;
  const photos = usePhotos(draft, post?.images ?? []);
  return (
    <Form
      draft={draft}
      submitLabel={submitLabel}
      onSubmit={async (read, data) => {
        const { id } = await save(
          {
            title: read('title'),
            content: read('content'),
            closes_on: read('closes_on') || null,
            images: await photos.uploaded(),
          },
          data,
        );
        photos.forget();
        navigate(`/posts/${id}`, { replace: true });
      }}
    >
      <TextField
        name="title"
        label={t('제목', 'Title')}
        hint={t(
          '예: 어버이날 세트를 함께 만들 꽃집을 찾습니다',
          'For example: Looking for a florist for a spring gift set',
        )}
        maxLength={100}
        defaultValue={post?.title}
      />
      <TextArea
        name="content"
        label={t('내용', 'Text')}
        hint={t(
          '기간, 방식, 서로에게 좋은 점을 적으면 답을 받기 쉽습니다.',
          'When, how, and what both shops gain: posts with details get more responses.',
        )}
        maxLength={5000}
        defaultValue={post?.content}
      />
      <PhotoFields {...photos} />
      <TextField
        name="closes_on"
        type="date"
        label={t('마감일', 'Last day')}
        hint={t(
          '이날이 지나면 글이 자동으로 마감되고, 새 요청을 받지 않습니다.',
          'After this day, the post closes by itself and takes no more requests.',
        )}
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
