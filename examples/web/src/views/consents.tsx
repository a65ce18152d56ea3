import { type Consent, dure } from '../api.ts';
import { LoadError, Skeleton } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/** What the user has agreed to, and what can still be agreed to or withdrawn. Missing where the service has no terms. */
export function Consents() {
  const { t } = useLanguage();
  const attempt = useAttempt();
  const { value, error, reload } = useLoad(
    (signal) =>
      Promise.all([dure.auth.listConsents({}, { signal }), dure.auth.getOwnConsents({}, { signal })]),
    [],
  );
  if (value?.[0].items.length === 0) return null;
  const [listed, given] = value ?? [];

  const answer = ({ id, version }: Consent, agrees: boolean) =>
    attempt(async () => {
      await dure.auth.updateOwnConsents({
        terms: id === 'terms' ? version : undefined,
        privacy: id === 'privacy' ? version : undefined,
        marketing: id === 'marketing' ? agrees : undefined,
      });
      reload();
    });

  return (
    <section class="card stack">
      <h2>{t.consents.history}</h2>
      {error !== undefined && <LoadError error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Skeleton count={1} height="9rem" />}
      <ul class="items">
        {listed?.items.map((consent) => {
          const { id, url } = consent;
          const name = t.consents.names[id] ?? id;
          const own = given?.items.find((one) => one.id === id);
          const moment = own?.withdrawn_at ?? own?.given_at;
          // The latest answer counts for marketing, of whichever version; it can always be withdrawn.
          const isGiven = id === 'marketing' ? own?.withdrawn_at === null : own?.is_current;
          return (
            <li class="item" key={id}>
              <div class="spread">
                <h3>
                  <a href={url} target="_blank" rel="noreferrer">
                    {name}
                  </a>
                </h3>
                {(!isGiven || id === 'marketing') && (
                  <button type="button" class="button" onClick={() => answer(consent, !isGiven)}>
                    {isGiven ? t.consents.withdraw : t.consents.agree}
                    <span class="visually-hidden"> {name}</span>
                  </button>
                )}
              </div>
              <p class="soft small">
                {own?.version && `${own.version} · `}
                {moment && (
                  <>
                    {own?.withdrawn_at ? t.consents.withdrawn : t.consents.given} <Time moment={moment} />
                  </>
                )}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
