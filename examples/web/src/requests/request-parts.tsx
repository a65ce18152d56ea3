import type { Contact, PartnerRequestDetail, Post } from '@dure/client';
import { useInfiniteList } from '@dure/react';
import { skipToken } from '@tanstack/react-query';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { m } from '../paraglide/messages.js';
import { TextArea } from '../ui/fields.tsx';
import { AskButton, ButtonLink, Facts, Form } from '../ui/index.ts';
import './request-parts.css';

type Request = Pick<PartnerRequestDetail, 'box' | 'status'>;

/** The status of a request as the caller sees it. One that is added later is shown as the service names it, in grey. */
export function RequestStatus({ status, box }: Request) {
  const known: Partial<Record<Request['status'], [text: string, colour: string]>> = {
    요청됨: [box === 'received' ? m.needs_your_answer() : m.waiting_for_an_answer(), 'requested'],
    수락됨: [m.accepted(), 'accepted'],
    거절됨: [m.declined(), 'declined'],
    취소됨: [m.withdrawn_2(), ''],
    종료됨: [m.ended(), ''],
  };
  const [text, colour] = known[status] ?? [status, ''];
  return <span className={`status ${colour}`}>{text}</span>;
}

/** What the other shop sees once a request is accepted; people agree to it before they send or accept one. */
function SharedContact() {
  const { user, store } = useAccount();
  const facts = [user.name, store?.phone_number, user.email].filter(Boolean).join(', ');
  return <p className="hint">{m.once_accepted_the_other_shop({ facts })}</p>;
}

export function ContactCard({ contact: { name, email, phone_number } }: { contact: Contact }) {
  // A landline takes no messages.
  const isMobile = /^(\+?82-?|0)1[016-9]/.test(phone_number);
  return (
    <div className="contact stack">
      {phone_number && (
        <div className="row">
          <ButtonLink look="primary large" to={`tel:${phone_number}`} label={m.call()} />
          {isMobile && <ButtonLink look="large" to={`sms:${phone_number}`} label={m.text_2()} />}
        </div>
      )}
      <Facts
        facts={{
          [m.owner()]: name,
          [m.telephone()]: phone_number,
          [m.email()]: <a href={`mailto:${email}`}>{email}</a>,
        }}
      />
    </div>
  );
}

/** What one side can do about a request: the texts of its dialog. */
const steps = {
  accept: { label: m.accept, title: m.accept_the_request_of, text: undefined },
  decline: { label: m.decline, title: m.decline_this_request, text: m.will_be_notified },
  withdraw: { label: m.withdraw_2, title: m.withdraw_this_request, text: m.will_be_notified_2 },
  end: { label: m.end_the_partnership, title: m.end_this_partnership, text: m.will_be_notified_and_you },
};

interface About {
  id: number;
  storeName: string;
}

export function Step({ id, storeName, step }: About & { step: keyof typeof steps }) {
  const { label, title, text } = steps[step];

  async function take() {
    await change(dure.partnerRequests[step], { partner_request_id: id });
    // The answer has succeeded, also where this fails.
    markRead(id).catch(() => undefined);
  }

  return (
    <AskButton
      look={step === 'accept' ? 'primary' : ''}
      label={label()}
      about={storeName}
      title={title({ storeName })}
      text={text?.({ storeName })}
      onConfirm={take}>
      {step === 'accept' && <SharedContact />}
    </AskButton>
  );
}

export function RequestActions({ status, box, id, storeName }: Request & About) {
  if (status !== '요청됨') return null;
  if (box === 'sent') return <Step step="withdraw" id={id} storeName={storeName} />;
  return (
    <div className="row">
      <Step step="accept" id={id} storeName={storeName} />
      <Step step="decline" id={id} storeName={storeName} />
    </div>
  );
}

/** A request in a list: what was asked, what the caller can do about it, and the way to the contact. */
export function RequestBody({ message, ...request }: Request & About & { message: string }) {
  return (
    <>
      {message && <blockquote className="pre-line">{message}</blockquote>}
      <RequestActions {...request} />
      {request.status === '수락됨' && (
        <Link className="small" to={`/requests/${request.id}`}>
          {m.show_the_contact()}
        </Link>
      )}
    </>
  );
}

/** A request may have been answered on another page than that of the notifications. */
async function markRead(id: number): Promise<void> {
  const { items } = await dure.notifications.list({ is_read: false });
  const own = items.find((one) => 'partner_request' in one && one.partner_request.id === id);
  if (own) await dure.notifications.markRead({ ids: [own.id] });
}

export function SendRequest({ post }: { post: Post }) {
  const { id, store, my_request_status: status } = post;
  const isOpen = status === '요청됨' || status === '수락됨';
  const sent = useInfiniteList(dure.partnerRequests.list, isOpen ? { box: 'sent' } : skipToken);
  const own = sent.items.find(({ post_id }) => post_id === id);
  const ownRequest = own ? `/requests/${own.id}` : '/requests?box=sent';
  if (post.status === 'closed' && !isOpen) return <p className="note">{m.this_post_is_closed_and()}</p>;
  return (
    <section className="card stack">
      <div className="spread">
        <h2>{m.send_a_request()}</h2>
        {status && <RequestStatus status={status} box="sent" />}
      </div>
      {status === '요청됨' && <p>{m.your_request_has_been_sent({ name: store.name })}</p>}
      {isOpen ? (
        <ButtonLink to={ownRequest} label={m.show_my_request()} />
      ) : (
        <Form
          values={{ message: '' }}
          draft={`request-${id}`}
          submitLabel={m.send_request()}
          onSubmit={({ message }, { idempotencyKey }) =>
            change(dure.partnerRequests.create, { post_id: id, message }, { idempotencyKey })
          }>
          <TextArea name="message" label={m.message()} hint={m.say_what_you_would_like()} maxLength={1000} />
          <SharedContact />
        </Form>
      )}
    </section>
  );
}
