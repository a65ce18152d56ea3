import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { PasswordField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { LoadError } from '../components/states.tsx';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

/** Logs in, and goes on where the user was. */
export function LogInView() {
  const { t } = useLanguage();
  const { session, reload } = useSession();
  const { query, route } = useLocation();
  const isSignedIn = session.status === 'signedIn';
  useEffect(() => {
    if (isSignedIn) route(ownPath(query['next']), true);
  }, [isSignedIn]);
  return (
    <Page title={t.logIn.title} width="form-page">
      <div class="stack">
        {session.status === 'signedOut' && session.why === 'ended' && (
          <p class="note warn">{t.logIn.ended}</p>
        )}
        {session.status === 'failed' && <LoadError error={session.error} onRetry={reload} />}
        <Form
          submitLabel={t.logIn.submit}
          onSubmit={async (read) => {
            await dure.logIn({ username: read('username').trim(), password: read('password') });
          }}
          actions={
            <a class="button plain" href="/signup">
              {t.nav.signUp}
            </a>
          }
        >
          <TextField
            name="username"
            label={t.fields.usernameOrEmail}
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
          />
          <PasswordField name="password" label={t.fields.password} autocomplete="current-password" />
        </Form>
        <p class="row small">
          <a class="back" href="/find-id">
            {t.findId.title}
          </a>
          <a class="back" href="/reset-password-request">
            {t.requestReset.title}
          </a>
        </p>
      </div>
    </Page>
  );
}

/** Only paths of this app, so that a link to the login page cannot lead to another site. */
function ownPath(next: string | undefined): string {
  if (next === undefined) return '/';
  const url = new URL(next, location.origin);
  return url.origin === location.origin && next.startsWith('/') ? `${url.pathname}${url.search}` : '/';
}
