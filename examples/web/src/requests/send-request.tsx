import { useMutation } from '@dure/react';
import { useState } from 'react';
import { Link } from 'react-router';
import { dure, type Post } from '../api.ts';
import { t } from '../text.ts';
import { Form, TextArea } from '../ui/index.ts';
import { RequestStatus, SharedContact } from './request-parts.tsx';

/** Sends a partnership request for a post. */
export function SendRequest({ post }: { post: Post }) {
  const { my_request_status: status } = post;
  const create = useMutation(dure.partnerRequests.create);
  // A request that was answered or withdrawn does not stand in the way of another one.
  const isOpen = status === '요청됨' || status === '수락됨';
  const [isSent, setSent] = useState(false);
  if (post.status === 'closed' && !isOpen && !isSent) {
    return (
      <p className="note">
        {t('마감된 글입니다. 새 요청은 받지 않습니다.', 'This post is closed and takes no more requests.')}
      </p>
    );
  }
  return (
    <section className="card stack">
      <div className="spread">
        <h2>{t('제휴 요청하기', 'Send a request')}</h2>
        {status && <RequestStatus status={status} box="sent" />}
      </div>
      {isSent || isOpen ? (
        <div className="stack" role="status">
          {isSent && (
            <p>
              {t(
                `${post.store.name}에 제휴 요청을 보냈습니다. 답이 오면 바로 알려 드립니다.`,
                `Your request has been sent to ${post.store.name}. You will see the answer here at once.`,
              )}
            </p>
          )}
          <div>
            <Link className="button" to="/requests?box=sent">
              {t('보낸 요청 보기', 'Show sent requests')}
            </Link>
          </div>
        </div>
      ) : (
        <Form
          draft={`request-${post.id}`}
          submitLabel={t('요청 보내기', 'Send request')}
          onSubmit={async (read) => {
            await create.mutateAsync({ post_id: post.id, message: read('message') });
            setSent(true);
          }}
        >
          <TextArea
            name="message"
            label={t('보낼 메시지', 'Message')}
            hint={t('어떤 제휴를 함께하고 싶은지 알려 주세요.', 'Say what you would like to do together.')}
            maxLength={1000}
          />
          <SharedContact />
        </Form>
      )}
    </section>
  );
}
