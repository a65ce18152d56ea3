import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { dure, type RequestDetail } from '../api.ts';
import { Categories } from '../components/categories.tsx';
import { ContactFacts } from '../components/contact-facts.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Page } from '../components/page.tsx';
import { PostCard } from '../components/post-card.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { Status } from '../components/status.tsx';
import { Time } from '../components/time.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLiveNotifications } from '../live.tsx';
import { useLanguage } from '../texts/language.tsx';
import { AnswerRequest } from './answer-request.tsx';

/** One request, with what its side can do about it. Emails about requests link here. */
export function RequestView() {
  const { t } = useLanguage();
  const { params } = useRoute();
  const id = Number(params['id']);
  const { value, error, reload } = useLoad((signal) => dure.partnerRequests.get({ id }, { signal }), [id]);
  useLiveNotifications((one) => 'partner_request' in one && one.partner_request.id === id && reload());
  const other = value && otherStore(value);
  const isSent = value?.box === 'sent';
  return (
    <Page
      title={other?.name ?? t.requests.title}
      width="narrow"
      back={{ href: isSent ? '/requests?box=sent' : '/requests', label: t.requests.title }}
      actions={value && <Status status={value.status} />}
    >
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton count={2} height="9rem" />}
      {value && other && (
        <div class="stack">
          <section class="card stack">
            <p class="soft small">
              {isSent ? t.request.sent : t.request.received} <Time moment={value.created_at} />
            </p>
            <blockquote class="pre-line">{value.message}</blockquote>
            <Actions request={value} storeName={other.name} onChanged={reload} />
          </section>
          {value.contact && (
            <section class="card stack">
              <h2>{t.contact.title}</h2>
              <ContactFacts contact={value.contact} />
            </section>
          )}
          <section class="card stack">
            <h2>
              <a href={`/stores/${other.id}`}>{other.name}</a>
            </h2>
            <Categories of={other} />
          </section>
          {value.post ? <PostCard post={value.post} /> : <p class="note">{t.request.postDeleted}</p>}
        </div>
      )}
    </Page>
  );
}

function otherStore(request: RequestDetail) {
  return request.box === 'sent' ? request.receiver_store : request.sender_store;
}

interface ActionsProps {
  request: RequestDetail;
  storeName: string;
  onChanged: () => void;
}

function Actions({ request, storeName, onChanged }: ActionsProps) {
  const { t } = useLanguage();
  const [isAsking, setAsking] = useState(false);
  const { id, status, box } = request;
  if (status === '요청됨' && box === 'received') {
    return <AnswerRequest id={id} storeName={storeName} onAnswered={onChanged} />;
  }
  if (status !== '요청됨' && status !== '수락됨') return null;
  const isAccepted = status === '수락됨';
  const texts = isAccepted
    ? { label: t.request.end, title: t.request.endTitle, text: t.request.endText(storeName) }
    : {
        label: t.requests.withdraw,
        title: t.requests.withdrawTitle,
        text: t.requests.withdrawText(storeName),
      };
  return (
    <div>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        {texts.label}
      </button>
      {isAsking && (
        <ConfirmDialog
          title={texts.title}
          text={texts.text}
          confirmLabel={texts.label}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            if (isAccepted) await dure.partnerRequests.end({ id });
            else await dure.partnerRequests.withdraw({ id });
            onChanged();
          }}
        />
      )}
    </div>
  );
}
