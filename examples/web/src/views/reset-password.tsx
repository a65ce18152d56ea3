import { isApiError } from '@dure/client';
import { useLocation } from 'preact-iso';
import { dure } from '../api.ts';
import { PasswordField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { Page } from '../components/page.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/** Where the link of the reset mail leads: sets a new password. */
export function ResetPasswordView() {
  const { t } = useLanguage();
  const { query, route } = useLocation();
  const { show } = useToasts();
  const uid = query['uid'] ?? '';
  const token = query['token'] ?? '';
  const link = useLoad((signal) => dure.auth.validatePasswordReset({ uid, token }, { signal }), [uid, token]);
  const isInvalid = isApiError(link.error) && link.error.status === 400;
  return (
    <Page title={t.resetPassword.title} width="form-page">
      {isInvalid && (
        <div class="note warn stack">
          <p>{t.resetPassword.invalid}</p>
          <div>
            <a class="button" href="/reset-password-request">
              {t.resetPassword.again}
            </a>
          </div>
        </div>
      )}
      {link.error !== undefined && !isInvalid && <LoadError error={link.error} onRetry={link.reload} />}
      {link.value === undefined && link.error === undefined && <Skeleton count={1} height="12rem" />}
      {link.value && (
        <Form
          submitLabel={t.resetPassword.submit}
          onSubmit={async (read) => {
            await dure.auth.confirmPasswordReset({ uid, token, new_password: read('new_password') });
            // The reset has ended all sessions, also one of this browser, so that an error here changes nothing.
            if (dure.isSignedIn()) await dure.auth.logOut().catch(() => undefined);
            show(t.resetPassword.done);
            route('/login', true);
          }}
        >
          <PasswordField
            name="new_password"
            label={t.fields.newPassword}
            hint={t.fields.passwordHint}
            autocomplete="new-password"
          />
        </Form>
      )}
    </Page>
  );
}
