import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';
import { type ProvedEmail, SignUpView } from './sign-up.tsx';

/**
 * Where the link of the mail with a code leads. Buttons, because programs that check emails open links, too, and because the link
 * verifies the account that is signed in: its user must see which one that is.
 */
export function ConfirmEmailView() {
  const { t } = useLanguage();
  const { session, reload } = useSession();
  const { query, url } = useLocation();
  const [proved, setProved] = useState<ProvedEmail>();
  const [result, setResult] = useState('');
  const token = query['token'] ?? '';
  if (proved) return <SignUpView proved={proved} />;

  function content() {
    if (session.status === 'failed') return <LoadError error={session.error} onRetry={reload} />;
    if (session.status === 'loading') return <Skeleton />;
    if (result !== '') {
      return (
        <p class="note" role="status">
          {result}
        </p>
      );
    }
    if (session.status === 'signedIn') {
      const { user } = session;
      if (user.is_verified) return <p>{t.confirmEmail.verified}</p>;
      return (
        <div class="stack">
          <p>{t.confirmEmail.account(user.username)}</p>
          <Form
            submitLabel={t.confirmEmail.submit}
            onSubmit={async () => {
              const { email } = await dure.auth.confirmEmail({ token });
              setResult(email === user.email ? t.verifyEmail.done : t.confirmEmail.other(email));
              await reload();
            }}
          />
        </div>
      );
    }
    return (
      <div class="stack">
        <p>{t.confirmEmail.signedOut}</p>
        <p>
          <a class="button primary" href={`/login?next=${encodeURIComponent(url)}`}>
            {t.confirmEmail.logIn}
          </a>
        </p>
        <Form
          submitLabel={t.confirmEmail.signUp}
          onSubmit={async () => {
            const { email, verification_token } = await dure.auth.confirmEmail({ token });
            setProved({ email, verification_token });
          }}
        />
      </div>
    );
  }

  return (
    <Page title={t.code.title} width="form-page">
      {content()}
    </Page>
  );
}
