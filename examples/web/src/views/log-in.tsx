import { isApiError, supportsPasskeys } from '@dure/client';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { ownPath, pendingLink, useArrival } from '../arrival.ts';
import { PasswordField, TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { PasskeyIcon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { ProviderButtons } from '../components/provider-buttons.tsx';
import { SecondFactor } from '../components/second-factor.tsx';
import { LoadError } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useAttempt } from '../hooks/use-attempt.ts';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';

interface LogInProps {
  /** Of a login whose first step is done. */
  secondFactorToken?: string;
  /** Where the user was, in place of that in the address. */
  next?: string | undefined;
}

/** Logs in, and goes on where the user was. */
export function LogInView({ secondFactorToken, next }: LogInProps) {
  const { session } = useSession();
  const { query } = useLocation();
  const arrive = useArrival();
  const [token, setToken] = useState(secondFactorToken);
  const returnTo = ownPath(next ?? query['next']);
  const isSignedIn = session.status === 'signedIn';
  useEffect(() => {
    if (isSignedIn) void arrive(returnTo);
  }, [isSignedIn]);
  if (token !== undefined) return <SecondFactor token={token} onRestart={() => setToken(undefined)} />;
  return <FirstFactor returnTo={returnTo} onSecondFactor={setToken} />;
}

interface FirstFactorProps {
  returnTo: string;
  onSecondFactor: (token: string) => void;
}

function FirstFactor({ returnTo, onSecondFactor }: FirstFactorProps) {
  const { t } = useLanguage();
  const { session, reload } = useSession();
  const attempt = useAttempt();
  usePasskeyAutofill();
  return (
    <Page title={t.logIn.title} width="form-page">
      <div class="stack">
        {session.status === 'signedOut' && session.why === 'ended' && (
          <p class="note warn">{t.logIn.ended}</p>
        )}
        {session.status === 'failed' && <LoadError error={session.error} onRetry={reload} />}
        <LinkNote />
        <Form
          submitLabel={t.logIn.submit}
          onSubmit={async (read) => {
            try {
              await dure.auth.logIn({ username: read('username').trim(), password: read('password') });
            } catch (error) {
              if (!isApiError(error, 'logIn') || error.code !== 'second_factor_required') throw error;
              onSecondFactor(error.data.second_factor_token);
            }
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
            autocomplete="username webauthn"
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
        <p class="divider">{t.common.or}</p>
        <ProviderButtons returnTo={returnTo} />
        {supportsPasskeys() && (
          <button
            type="button"
            class="button wide provider"
            onClick={() => attempt(() => dure.passkeys.logIn())}
          >
            <PasskeyIcon />
            {t.logIn.passkey}
          </button>
        )}
      </div>
    </Page>
  );
}

/** Offers passkeys in the autofill of the username, while the page is shown. */
function usePasskeyAutofill() {
  const { show } = useToasts();
  useEffect(() => {
    const shown = new AbortController();
    dure.passkeys.logIn({ conditional: true, signal: shown.signal }).catch((error: unknown) => {
      // Where autofill does not work, the other ways do.
      if (isApiError(error, 'finishPasskeyLogin')) show(error.message);
    });
    return () => shown.abort();
  }, []);
}

/** After a login with a provider whose address an account has. */
function LinkNote() {
  const { t } = useLanguage();
  const [isShown, setShown] = useState(pendingLink.exists);
  if (!isShown) return null;
  return (
    <div class="note stack">
      <p>{t.logIn.link}</p>
      <div>
        <button
          type="button"
          class="button"
          onClick={() => {
            pendingLink.drop();
            setShown(false);
          }}
        >
          {t.logIn.noLink}
        </button>
      </div>
    </div>
  );
}
