import { useEffect } from 'preact/hooks';
import { useLanguage } from '../texts/language.tsx';

/** What Dure is for, for visitors who are not signed in. */
export function WelcomeView() {
  const { t } = useLanguage();
  useEffect(() => {
    document.title = t.brand;
  }, [t]);
  return (
    <div>
      <div class="hero">
        <div class="stack">
          <h1 class="pre-line">{t.welcome.title}</h1>
          <p class="soft">{t.welcome.lead}</p>
          <div class="row">
            <a class="button primary" href="/signup">
              {t.welcome.start}
            </a>
            <a class="button" href="/login">
              {t.nav.logIn}
            </a>
          </div>
        </div>
        <img src="/neighbours.svg" alt="" width="480" height="260" />
      </div>
      <h2 class="visually-hidden">{t.welcome.how}</h2>
      <ol class="steps">
        {t.welcome.steps.map(({ title, text }, index) => (
          <li class="card" key={title}>
            <span class="number" aria-hidden="true">
              {index + 1}
            </span>
            <h3>{title}</h3>
            <p class="soft">{text}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}
