import type { CallOptions, Post } from '@dure/client';
import { useNavigate, useParams } from 'react-router';
import { dure, type Tagged } from '../api.ts';
import { change } from '../app/change.ts';
import { usePost } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { Checkbox, TextArea, TextField } from '../ui/fields.tsx';
import { Empty, Form, Loaded, Page } from '../ui/index.ts';
import { PhotoFields, uploadedUrls } from './photos.tsx';

export function NewPost() {
  return (
    <Page
      title={m.write_a_post()}
      lead={m.what_would_you_like_to()}
      width="narrow"
      back={{ to: '/', label: m.browse_posts() }}>
      <PostForm />
    </Page>
  );
}

export function EditPost() {
  const id = Number(useParams()['id']);
  const query = usePost(id);
  const back = { to: `/posts/${id}`, label: m.post() };
  return (
    <Page title={m.edit_post()} width="narrow" back={back}>
      <Loaded query={query}>
        {(post) =>
          post.is_mine ? (
            <PostForm post={post} />
          ) : (
            <Empty text={m.only_your_own_posts_can()} to={back.to} label={m.show_the_post()} />
          )
        }
      </Loaded>
    </Page>
  );
}

function PostForm({ post }: { post?: Tagged<Post> }) {
  const navigate = useNavigate();
  const { title = '', content = '', images = [], closes_on, status } = post ?? {};
  const values = { title, content, images, closes_on: closes_on ?? '', closed: status === 'closed' };

  async function save({ closed, ...entered }: typeof values, { idempotencyKey, ifMatch }: CallOptions) {
    const images = await uploadedUrls(entered.images);
    const fields = { ...entered, images, closes_on: entered.closes_on || null };
    const state = closed ? 'closed' : 'open';
    const { id } = post
      ? await change(dure.posts.update, { post_id: post.id, status: state, ...fields }, { ifMatch })
      : await change(dure.posts.create, fields, { idempotencyKey });
    navigate(`/posts/${id}`, { replace: true });
  }

  return (
    <Form
      values={values}
      version={post?.etag}
      draft={post ? `post-${post.id}` : 'post'}
      submitLabel={post ? m.save() : m.publish()}
      onSubmit={save}>
      <TextField name="title" label={m.title()} hint={m.such_as_looking_for_a()} maxLength={100} />
      <TextArea name="content" label={m.text()} hint={m.when_how_and_what_both()} maxLength={5000} />
      <PhotoFields />
      <TextField
        name="closes_on"
        type="date"
        label={m.last_day()}
        hint={m.after_it_the_post_takes()}
        optional
      />
      {post && <Checkbox name="closed" label={m.closed_take_no_new_requests()} />}
    </Form>
  );
}
