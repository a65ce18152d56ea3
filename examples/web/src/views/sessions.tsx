import { useState } from 'preact/hooks';
import { dure, type Session } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Empty } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { useToasts } from '../components/toasts.tsx';
import { usePages } from '../hooks/use-pages.ts';
import { describeDevice } from '../texts/devices.ts';
import { useLanguage } from '../texts/language.tsx';

/** The devices that are signed in. */
export function SessionsView() {
  const { t } = useLanguage();
  const { show } = useToasts();
  const sessions = usePages((cursor, signal) => dure.auth.listSessions({ cursor }, { signal }), []);
  const [ending, setEnding] = useState<Session | 'others'>();
  const hasOthers = sessions.items.some(({ is_current }) => !is_current);
  return (
    <Page
      title={t.sessions.title}
      lead={t.sessions.lead}
      width="narrow"
      back={{ href: '/account', label: t.account.title }}
    >
      <PagedList pages={sessions} empty={<Empty text={t.sessions.lead} />}>
        {(session) => (
          <div class="item">
            <div class="spread">
              <h2>{describeDevice(session.user_agent) ?? t.sessions.unknownDevice}</h2>
              {session.is_current ? (
                <span class="status accepted">{t.sessions.current}</span>
              ) : (
                <button type="button" class="button" onClick={() => setEnding(session)}>
                  {t.sessions.end}
                </button>
              )}
            </div>
            <p class="soft small">
              {session.ip} · {t.sessions.lastUsed} <Time moment={session.last_used_at} />
            </p>
            {session.methods.length > 0 && (
              <p class="soft small">
                {t.sessions.methods}{' '}
                {session.methods.map((one) => t.loginMethods.names[one] ?? one).join(', ')}
              </p>
            )}
          </div>
        )}
      </PagedList>
      {hasOthers && (
        <p style="margin-top:16px">
          <button type="button" class="button danger" onClick={() => setEnding('others')}>
            {t.sessions.endOthers}
          </button>
        </p>
      )}
      {ending && (
        <ConfirmDialog
          title={ending === 'others' ? t.sessions.endOthers : t.sessions.endTitle}
          text={ending === 'others' ? t.sessions.endOthersText : t.sessions.endText}
          confirmLabel={t.sessions.end}
          onClose={() => setEnding(undefined)}
          onConfirm={async () => {
            if (ending === 'others') await dure.auth.endOtherSessions();
            else await dure.auth.endSession({ session_id: ending.id });
            sessions.update((item) =>
              item.is_current || (ending !== 'others' && item.id !== ending.id) ? item : undefined,
            );
            show(t.sessions.ended);
          }}
        />
      )}
    </Page>
  );
}
