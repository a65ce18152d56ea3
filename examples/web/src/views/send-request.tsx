import { useState } from 'preact/hooks';
import { dure, type Post } from '../api.ts';
import { TextArea } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Status } from '../components/status.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Sends a partnership request for a post. */
export function SendRequest({ post }: { post: Post }) {
  const { t } = useLanguage();
  const { my_request_status: status } = post;
  // A request that was answered or withdrawn does not stand in the way of another one.
  const isOpen = status === '요청됨' || status === '수락됨';
  const [isSent, setSent] = useState(false);
  if (post.status === 'closed' && !isOpen && !isSent) return <p class="note">{t.sendRequest.closed}</p>;
  return (
    <section class="card stack">
      <div class="spread">
        <h2>{t.sendRequest.title}</h2>
        {status && !isSent && <Status status={status} />}
      </div>
      {isSent || isOpen ? (
        <div class="stack" role="status">
          {isSent && <p>{t.sendRequest.done(post.store.name)}</p>}
          <div>
            <a class="button" href="/requests?box=sent">
              {t.sendRequest.showSent}
            </a>
          </div>
        </div>
      ) : (
        <Form
          submitLabel={t.sendRequest.submit}
          onSubmit={async (read) => {
            await dure.partnerRequests.create({ post_id: post.id, message: read('message') });
            setSent(true);
          }}
        >
          <TextArea name="message" label={t.sendRequest.message} hint={t.sendRequest.hint} maxLength={1000} />
        </Form>
      )}
    </section>
  );
}
