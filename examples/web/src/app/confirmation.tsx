import { supportsPasskeys } from '@dure/client';
import { nameOfMethod } from '../account/names.ts';
import { dure } from '../api.ts';
import { SecondFactorField, secondFactorIn } from '../auth/fields.tsx';
import { m } from '../paraglide/messages.js';
import { PasswordField } from '../ui/fields.tsx';
import { Button, Dialog, Form } from '../ui/index.ts';

export interface ConfirmationProps {
  methods: string[];
  /** @param password empty where something else was the confirmation, and null where there was none */
  onEnd: (password: string | null) => void;
}

export function ConfirmationDialog({ methods, onEnd }: ConfirmationProps) {
  const cancel = <Button label={m.cancel()} onClick={() => onEnd(null)} />;
  const withPassword = methods.includes('password');
  const withPasskey = !withPassword && supportsPasskeys();
  const hasForm = withPassword || methods.includes('totp');
  const providers = methods.filter((one) => !['password', 'totp', 'recovery_code'].includes(one));

  async function confirm({ password, code }: { password: string; code: string }) {
    await dure.auth.confirmUser(withPassword ? { password } : { code: secondFactorIn(code) });
    onEnd(password);
  }

  /** A new session with a passkey counts as confirmed. With that of another account, the action is not for it. */
  async function logInAgain() {
    const before = dure.userId();
    const { user } = await dure.passkeys.logIn();
    onEnd(user.id === before ? '' : null);
  }

  return (
    <Dialog title={m.confirm_that_it_is_you()} onClose={() => onEnd(null)}>
      <p>{m.to_protect_your_account_please()}</p>
      {hasForm && (
        <Form
          values={{ password: '', code: '' }}
          submitLabel={m.confirm()}
          onSubmit={confirm}
          actions={cancel}>
          {withPassword ? <PasswordField autoComplete="current-password" /> : <SecondFactorField />}
        </Form>
      )}
      {providers.map((id) => (
        <Button
          key={id}
          look="wide"
          label={m.confirm_with({ name: nameOfMethod(id) })}
          // Leaves the page; the callback page comes back to it, and the user repeats what they did.
          onClick={() => dure.auth.loginWith(id, { purpose: 'confirm', returnTo: location.pathname })}
        />
      ))}
      {withPasskey && <Button look="wide" label={m.confirm_with_a_passkey()} onClick={logInAgain} />}
      {methods.length === 0 && !withPasskey && <p className="note warn">{m.please_log_out_and_log()}</p>}
      {!hasForm && <div className="row">{cancel}</div>}
    </Dialog>
  );
}
