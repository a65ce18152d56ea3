import { useMutation } from '@dure/react';
import { Link } from 'react-router';
import { type Contact, dure, type RequestDetail } from '../api.ts';
import { useAccount } from '../app/session.tsx';
import { t } from '../text.ts';
import { AskButton, Facts, showError } from '../ui/index.ts';

type Box = RequestDetail['box'];
type Status = RequestDetail['status'];

/** The status of a request as the caller sees it. One that is added later is shown as the service names it, in grey. */
export function RequestStatus({ status, box }: { status: Status; box: Box }) {
  const waiting =
    box === 'received' ? t('답변 필요', 'Needs your answer') : t('답 기다리는 중', 'Waiting for an answer');
  const known: Partial<Record<Status, { text: string; colour?: string }>> = {
    요청됨: { text: waiting, colour: 'requested' },
    수락됨: { text: t('수락됨', 'Accepted'), colour: 'accepted' },
    거절됨: { text: t('거절됨', 'Declined'), colour: 'declined' },
    취소됨: { text: t('취소됨', 'Withdrawn') },
    종료됨: { text: t('종료됨', 'Ended') },
  };
  const { text, colour = '' } = known[status] ?? { text: status };
  return <span className={`status ${colour}`}>{text}</span>;
}

/** What the other shop sees once a request is accepted; people agree to it before they send or accept one. */
export function SharedContact() {
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
  return (
    <div className="contact stack">
      {phone_number && (
        <div className="row">
          <a className="button primary large" href={`tel:${phone_number}`}>
            {t('전화', 'Call')}
          </a>
          <a className="button large" href={`sms:${phone_number}`}>
            {t('문자', 'Text')}
          </a>
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

interface RequestProps {
  id: number;
  storeName: string;
}

/** Accepts or declines a request that waits for a response. */
export function AnswerRequest({ id, storeName }: RequestProps) {
  const { mutate: markRead } = useMutation(dure.notifications.markRead);
  // The notification of a request that is answered on another page is still unread.
  async function onSuccess() {
    const { items } = await dure.notifications.list({ limit: 100 });
    const own = items.filter(
      (one) => 'partner_request' in one && one.partner_request.id === id && !one.is_read,
    );
    if (own.length > 0) markRead({ ids: own.map((one) => one.id) });
  }
  const accept = useMutation(dure.partnerRequests.accept, { onSuccess });
  const decline = useMutation(dure.partnerRequests.decline, { onSuccess });
  const isNotified = t(`${storeName}에 거절했다고 알려 드립니다.`, `${storeName} will be notified.`);
  return (
    <>
      <SharedContact />
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={accept.isPending}
          onClick={() => accept.mutate({ partner_request_id: id }, { onError: showError })}
        >
          {t('수락하기', 'Accept')}
        </button>
        <AskButton
          label={t('거절하기', 'Decline')}
          title={t('요청을 거절할까요?', 'Decline this request?')}
          text={`${isNotified} ${t('거절은 되돌릴 수 없습니다.', 'This cannot be undone.')}`}
          onConfirm={() => decline.mutateAsync({ partner_request_id: id })}
        />
      </div>
    </>
  );
}

/** Takes a request back that waits for a response. */
export function WithdrawRequest({ id, storeName }: RequestProps) {
  const withdraw = useMutation(dure.partnerRequests.withdraw);
  return (
    <AskButton
      label={t('요청 취소하기', 'Withdraw')}
      title={t('요청을 취소할까요?', 'Withdraw this request?')}
      text={t(`${storeName}에 요청을 취소했다고 알려 드립니다.`, `${storeName} will be notified.`)}
      onConfirm={() => withdraw.mutateAsync({ partner_request_id: id })}
    />
  );
}

export function EndPartnership({ id, storeName }: RequestProps) {
  const end = useMutation(dure.partnerRequests.end);
  return (
    <AskButton
      label={t('제휴 끝내기', 'End the partnership')}
      title={t('제휴를 끝낼까요?', 'End this partnership?')}
      text={t(
        `${storeName}에 제휴가 끝났다고 알려 드리며, 서로의 연락처가 더 이상 보이지 않습니다.`,
        `${storeName} will be notified, and you will no longer see each other's contact.`,
      )}
      onConfirm={() => end.mutateAsync({ partner_request_id: id })}
    />
  );
}

/** Leads to the contact of an accepted request. */
export function ContactLink({ id }: { id: number }) {
  return (
    <p className="small">
      <Link to={`/requests/${id}`}>
        {t(
          '제휴가 맺어졌습니다. 연락처를 확인하고 이야기를 나눠 보세요.',
          'You are partners now. See how to get in touch.',
        )}
      </Link>
    </p>
  );
}
