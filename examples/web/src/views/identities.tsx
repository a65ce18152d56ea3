import { useState } from 'preact/hooks';
import { dure, type Identity } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Skeleton } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useConfirmed } from '../confirmation.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useLoad } from '../hooks/use-load.ts';
import { usePages } from '../hooks/use-pages.ts';
import { useLanguage } from '../texts/language.tsx';

/** The providers that the account logs in with, and those that it can connect. */
export function Identities() {
  const { t, language } = useLanguage();
  const { show } = useToasts();
  const attempt = useAttempt();
  const confirmed = useConfirmed();
  const providers = useLoad((signal) => dure.auth.listLoginProviders({}, { signal }), [language]);
  const identities = usePages((cursor, signal) => dure.auth.listIdentities({ cursor }, { signal }), []);
  const [removing, setRemoving] = useState<Identity>();

  const offered = providers.value?.items ?? [];
  const nameOf = (provider: string) =>
    offered.find(({ id }) => id === provider)?.name ?? t.loginMethods.names[provider] ?? provider;
  const isConnected = (provider: string) => identities.items.some((one) => one.provider === provider);
  const others = identities.isLoading ? [] : offered.filter(({ id }) => !isConnected(id));

  const connect = (provider: string) =>
    attempt(() =>
      confirmed(() => dure.auth.loginWith(provider, { purpose: 'link', returnTo: location.pathname })),
    );

  return (
    <section class="card stack">
      <h2>{t.identities.title}</h2>
      <p class="soft">{t.identities.text}</p>
      <PagedList pages={identities} skeleton={<Skeleton count={1} height="4rem" />} empty={null}>
        {(identity) => (
          <div class="item">
            <div class="spread">
              <h3>{nameOf(identity.provider)}</h3>
              <button type="button" class="button" onClick={() => setRemoving(identity)}>
                {t.identities.disconnect}
                <span class="visually-hidden"> {nameOf(identity.provider)}</span>
              </button>
            </div>
            <p class="soft small">
              {identity.email && <>{identity.email} · </>}
              {t.loginMethods.lastUsed} <Time moment={identity.last_used_at} />
            </p>
          </div>
        )}
      </PagedList>
      {identities.items.length === 0 && providers.value?.items.length === 0 && <p>{t.identities.none}</p>}
      <div class="row">
        {others.map(({ id, name }) => (
          <button type="button" class="button" key={id} onClick={() => connect(id)}>
            {t.identities.connect(name)}
          </button>
        ))}
      </div>
      {removing && (
        <ConfirmDialog
          title={t.identities.disconnectTitle(nameOf(removing.provider))}
          text={t.identities.disconnectText}
          confirmLabel={t.identities.disconnect}
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            await confirmed(() => dure.auth.removeIdentity({ identity_id: removing.id }));
            identities.update((item) => (item.id === removing.id ? undefined : item));
            show(t.identities.disconnected);
          }}
        />
      )}
    </section>
  );
}
