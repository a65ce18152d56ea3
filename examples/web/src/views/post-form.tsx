import type { Input } from '@dure/client';
import { useLocation, useRoute } from 'preact-iso';
import { dure, type Post } from '../api.ts';
import { Checkbox, TextArea, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { ImageFields } from '../components/image-fields.tsx';
import { Page } from '../components/page.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useUploads } from '../hooks/use-uploads.ts';
import { useLanguage } from '../texts/language.tsx';

/** Writes a post. */
export function NewPostView() {
  const { t } = useLanguage();
  const { route } = useLocation();
  return (
    <Page
      title={t.postForm.newTitle}
      lead={t.postForm.lead}
      width="narrow"
      back={{ href: '/', label: t.feed.title }}
    >
      <PostForm
        submitLabel={t.postForm.publish}
        save={async (fields) => {
          const { id } = await dure.posts.create(fields);
          route(`/posts/${id}`, true);
        }}
      />
    </Page>
  );
}

/** Edits an own post. */
export function EditPostView() {
  const { t } = useLanguage();
  const { route } = useLocation();
  const { params } = useRoute();
  const { show } = useToasts();
  const id = Number(params['id']);
  const {
    value: post,
    error,
    reload,
  } = useLoad((signal) => dure.posts.get({ post_id: id }, { signal }), [id]);
  return (
    <Page title={t.postForm.editTitle} width="narrow" back={{ href: `/posts/${id}`, label: t.post.title }}>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {post === undefined && error === undefined && <Skeleton height="8rem" />}
      {post && (
        <PostForm
          post={post}
          submitLabel={t.common.save}
          save={async (fields, data) => {
            const status = data.has('closed') ? 'closed' : 'open';
            await dure.posts.update({ post_id: id, ...fields, status });
            show(t.common.saved);
            route(`/posts/${id}`, true);
          }}
        />
      )}
    </Page>
  );
}

interface PostFormProps {
  post?: Post;
  submitLabel: string;
  save: (fields: Input<'createPost'>, data: FormData) => Promise<void>;
}

function PostForm({ post, submitLabel, save }: PostFormProps) {
  const { t } = useLanguage();
  const images = useUploads(post?.images ?? []);
  return (
    <Form
      submitLabel={submitLabel}
      onSubmit={async (read, data) => {
        const fields = {
          title: read('title'),
          content: read('content'),
          closes_on: read('closes_on') || null,
        };
        await save({ ...fields, images: await images.finished() }, data);
      }}
    >
      <TextField
        name="title"
        label={t.postForm.title}
        hint={t.postForm.titleHint}
        maxLength={100}
        defaultValue={post?.title}
      />
      <TextArea
        name="content"
        label={t.postForm.content}
        hint={t.postForm.contentHint}
        maxLength={5000}
        defaultValue={post?.content}
      />
      <ImageFields images={images} />
      <TextField
        name="closes_on"
        type="date"
        label={t.postForm.closesOn}
        hint={t.postForm.closesOnHint}
        optional
        defaultValue={post?.closes_on ?? ''}
      />
      {post && (
        <Checkbox name="closed" label={t.postForm.isClosed} defaultChecked={post.status === 'closed'} />
      )}
    </Form>
  );
}
