import type { Method } from '@dure/client';
import { useInfiniteList } from '@dure/react';
import { skipToken } from '@tanstack/react-query';
import { type Contact, dure, type Post, type RequestDetail } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { t } from '../text.ts';
import { AskButton, ButtonLink, Facts, Form, TextArea } from '../ui/index.ts';

type Request = Pick<RequestDetail, 'box' | 'status'>;

/** The status of a request as the caller sees it. One that is added later is shown as the service names it, in grey. */
export function RequestStatus({ status, box }: Request) {
  const waiting =
    box === 'received' ? t('답변 필요', 'Needs your answer') : t('답 기다리는 중', 'Waiting for an answer');
  const known: Partial<Record<Request['status'], [text: string, colour: string]>> = {
    요청됨: [waiting, 'requested'],
    수락됨: [t('수락됨', 'Accepted'), 'accepted'],
    거절됨: [t('거절됨', 'Declined'), 'declined'],
    취소됨: [t('취소됨', 'Withdrawn'), ''],
    종료됨: [t('종료됨', 'Ended'), ''],
  };
  const [text, colour] = known[status] ?? [status, ''];
  return <span className={`status ${colour}`}>{text}</span>;
}

/** What the other shop sees once a request is accepted; people agree to it before they send or accept one. */
function SharedContact() {
  const { user, store } = useAccount();
  const facts = [user.name, store?.phone_number, user.email].filter(Boolean).join(', ');
  return (
    <p className="hint">
      {t(
        `수락되면 상대 가게에 내 이름, 전화번호, 이메일이 보입니다: ${facts}`,
        `Once accepted, the other shop sees your name, telephone number and email: ${facts}`,
      )}
    </p>
  );
}

/** How to reach the owner of a partner store. */
export function ContactCard({ contact: { name, email, phone_number } }: { contact: Contact }) {
  // A landline takes no messages.
  const isMobile = /^(\+?82-?|0)1[016-9]/.test(phone_number);
  return (
    <div className="contact stack">
      {phone_number && (
        <div className="row">
          <ButtonLink look="primary large" to={`tel:${phone_number}`} label={t('전화', 'Call')} />
          {isMobile && <ButtonLink look="large" to={`sms:${phone_number}`} label={t('문자', 'Text')} />}
        </div>
      )}
      <Facts
        facts={{
          [t('담당자', 'Owner')]: name,
          [t('전화번호', 'Telephone')]: phone_number,
          [t('이메일', 'Email')]: <a href={`mailto:${email}`}>{email}</a>,
        }}
      />
    </div>
  );
}

interface ActionProps {
  id: number;
  storeName: string;
}

/** What the caller can do about a request that waits for a response. */
export function RequestActions({ status, box, ...props }: Request & ActionProps) {
  if (status !== '요청됨') return null;
  return box === 'sent' ? <Withdraw {...props} /> : <Answer {...props} />;
}

function Answer({ id, storeName }: ActionProps) {
  async function answer(method: Method<'acceptPartnerRequest'> | Method<'declinePartnerRequest'>) {
    await change(method, { partner_request_id: id });
    // It may have been answered on another page than that of the notifications.
    const { items } = await dure.notifications.list({ is_read: false });
    const own = items.find((one) => 'partner_request' in one && one.partner_request.id === id);
    if (own) await dure.notifications.markRead({ ids: [own.id] });
  }
  const isNotified = t(`${storeName}에 거절했다고 알려 드립니다.`, `${storeName} will be notified.`);
  return (
    <div className="row">
      <AskButton
        look="primary"
        label={t('수락하기', 'Accept')}
        about={storeName}
        title={t(`${storeName}의 요청을 수락할까요?`, `Accept the request of ${storeName}?`)}
        pendingLabel={t('수락하는 중…', 'Accepting…')}
        onConfirm={() => answer(dure.partnerRequests.accept)}
      >
        <SharedContact />
      </AskButton>
      <AskButton
        label={t('거절하기', 'Decline')}
        about={storeName}
        title={t('요청을 거절할까요?', 'Decline this request?')}
        text={`${isNotified} ${t('거절은 되돌릴 수 없습니다.', 'This cannot be undone.')}`}
        pendingLabel={t('거절하는 중…', 'Declining…')}
        onConfirm={() => answer(dure.partnerRequests.decline)}
      />
    </div>
  );
}

function Withdraw({ id, storeName }: ActionProps) {
  return (
    <AskButton
      label={t('요청 취소하기', 'Withdraw')}
      title={t('요청을 취소할까요?', 'Withdraw this request?')}
      text={t(`${storeName}에 요청을 취소했다고 알려 드립니다.`, `${storeName} will be notified.`)}
      onConfirm={() => change(dure.partnerRequests.withdraw, { partner_request_id: id })}
    />
  );
}

export function EndPartnership({ id, storeName }: ActionProps) {
  return (
    <AskButton
      label={t('제휴 끝내기', 'End the partnership')}
      title={t('제휴를 끝낼까요?', 'End this partnership?')}
      text={t(
        `${storeName}에 제휴가 끝났다고 알려 드리며, 서로의 연락처가 더 이상 보이지 않습니다.`,
        `${storeName} will be notified, and you will no longer see each other's contact.`,
      )}
      onConfirm={() => change(dure.partnerRequests.end, { partner_request_id: id })}
    />
  );
}

export function SendRequest({ post }: { post: Post }) {
  const { id, store, my_request_status: status } = post;
  const isOpen = status === '요청됨' || status === '수락됨';
  const sent = useInfiniteList(dure.partnerRequests.list, isOpen ? { box: 'sent' } : skipToken);
  const own = sent.items.find(({ post_id }) => post_id === id);
  const ownRequest = own ? `/requests/${own.id}` : '/requests?box=sent';
  if (post.status === 'closed' && !isOpen) {
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
      {status === '요청됨' && (
        <p>
          {t(
            `${store.name}에 제휴 요청을 보냈습니다. 답이 오면 바로 알려 드립니다.`,
            `Your request has been sent to ${store.name}. You will see the answer here at once.`,
          )}
        </p>
      )}
      {isOpen ? (
        <div>
          <ButtonLink to={ownRequest} label={t('보낸 요청 보기', 'Show my request')} />
        </div>
      ) : (
        <Form
          values={{ message: '' }}
          draft={`request-${id}`}
          submitLabel={t('요청 보내기', 'Send request')}
          pendingLabel={t('보내는 중…', 'Sending…')}
          onSubmit={({ message }, { idempotencyKey }) =>
            change(dure.partnerRequests.create, { post_id: id, message }, { idempotencyKey })
          }
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
