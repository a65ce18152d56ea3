import { supportsPasskeys } from '@dure/client';
import { createCallable } from 'react-call';
import { nameOfMethod } from '../account/names.ts';
import { dure } from '../api.ts';
import { SecondFactorField, secondFactorIn } from '../auth/fields.tsx';
import { t } from '../text.ts';
import { Button, CancelButton, Dialog, Form, PasswordField } from '../ui/index.ts';

/** Asks who is there. Ends with the password, which is empty where something else was the confirmation, or null. */
export const Confirmation = createCallable<{ methods: string[] }, string | null>(({ call, methods }) => {
  const cancel = () => call.end(null);
  const withPassword = methods.includes('password');
  const withPasskey = !withPassword && supportsPasskeys();
  const providers = methods.filter((one) => !['password', 'totp', 'recovery_code'].includes(one));

  async function confirm({ password, code }: { password: string; code: string }) {
    await dure.auth.confirmUser(withPassword ? { password } : { code: secondFactorIn(code) });
    call.end(password);
  }

  /** A new session with a passkey counts as confirmed. With that of another account, the action is not for it. */
  async function logInAgain() {
    const before = dure.userId();
    const { user } = await dure.passkeys.logIn();
    call.end(user.id === before ? '' : null);
  }

  return (
    <Dialog title={t('본인 확인', 'Confirm that it is you')} onClose={cancel}>
      <p>{t('본인인지 한 번 더 확인합니다.', 'To protect your account, please confirm that it is you.')}</p>
      {(withPassword || methods.includes('totp')) && (
        <Form
          values={{ password: '', code: '' }}
          submitLabel={t('확인하기', 'Confirm')}
          pendingLabel={t('확인하는 중…', 'Confirming…')}
          onSubmit={confirm}
        >
          {withPassword ? <PasswordField autoComplete="current-password" /> : <SecondFactorField />}
        </Form>
      )}
      {providers.map((id) => (
        <Button
          key={id}
          label={t(`${nameOfMethod(id)} 계정으로 확인`, `Confirm with ${nameOfMethod(id)}`)}
          // Leaves the page; the callback page comes back to it, and the user repeats what they did.
          onClick={() => dure.auth.loginWith(id, { purpose: 'confirm', returnTo: location.pathname })}
        />
      ))}
      {withPasskey && <Button label={t('패스키로 확인', 'Confirm with a passkey')} onClick={logInAgain} />}
      {methods.length === 0 && !withPasskey && (
        <p className="note warn">
          {t('로그아웃한 뒤 다시 로그인해 주세요.', 'Please log out and log in again.')}
        </p>
      )}
      <div className="row">
        <CancelButton onClick={cancel} />
      </div>
    </Dialog>
  );
});
