import { isApiError, supportsPasskeys } from '@dure/client';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { dure } from '../api.ts';
import { SecondFactorField, secondFactorIn } from '../auth/second-factor.tsx';
import { t } from '../text.ts';
import { attempt, CancelButton, Dialog, Form, PasswordField } from '../ui/index.ts';
import { nameOfMethod } from './names.ts';

/** Runs what the service may do only after a confirmation. The action gets the password where that was the confirmation. */
type Confirmed = <Result>(action: (password?: string) => Promise<Result>) => Promise<Result>;

interface Question {
  methods: readonly string[];
  /** Runs the action again. */
  repeat: (password?: string) => void;
  cancel: () => void;
}

const Context = createContext<Confirmed>((action) => action());

/** The wrapper for actions that may need a confirmation. */
export const useConfirmed = () => useContext(Context);

/** Asks for a confirmation where the service wants one, and then repeats what the user did. */
export function ConfirmationProvider({ children }: { children: ReactNode }) {
  const [question, setQuestion] = useState<Question>();
  const confirmed = useCallback<Confirmed>(async (action) => {
    try {
      return await action();
    } catch (error) {
      const methods = methodsOf(error);
      if (methods === undefined) throw error;
      return await new Promise((resolve, reject) => {
        setQuestion({
          methods,
          repeat(password) {
            setQuestion(undefined);
            action(password).then(resolve, reject);
          },
          cancel() {
            setQuestion(undefined);
            reject(new DOMException('not confirmed', 'AbortError'));
          },
        });
      });
    }
  }, []);
  return (
    <Context.Provider value={confirmed}>
      {children}
      {question && <ConfirmationDialog {...question} />}
    </Context.Provider>
  );
}

/** Operations that take a password need it of all accounts that have one. */
function methodsOf(error: unknown): readonly string[] | undefined {
  if (!isApiError(error)) return undefined;
  const { code, data, fields } = error;
  if (fields['password']) return ['password'];
  if (code !== 'confirmation_required' || !('methods' in data)) return undefined;
  return Array.isArray(data.methods) ? data.methods : undefined;
}

function ConfirmationDialog({ methods, repeat, cancel }: Question) {
  const withPassword = methods.includes('password');
  const withForm = withPassword || methods.includes('totp');
  const providers = methods.filter((one) => !['password', 'totp', 'recovery_code'].includes(one));
  const withPasskey = !withPassword && supportsPasskeys();

  async function confirm(read: (name: string) => string) {
    const password = withPassword ? read('password') : undefined;
    await dure.auth.confirmUser(withPassword ? { password } : { code: secondFactorIn(read) });
    repeat(password);
  }

  const buttons = providers.map((id): [string, () => Promise<unknown>] => [
    t(`${nameOfMethod(id)} 계정으로 확인`, `Confirm with ${nameOfMethod(id)}`),
    () => confirmWith(id),
  ]);
  if (withPasskey) {
    const confirmOrCancel = async () => ((await logInAgain()) ? repeat() : cancel());
    buttons.push([t('패스키로 확인', 'Confirm with a passkey'), confirmOrCancel]);
  }
  return (
    <Dialog title={t('본인 확인', 'Confirm that it is you')} onClose={cancel}>
      <p>{t('본인인지 한 번 더 확인합니다.', 'To protect your account, please confirm that it is you.')}</p>
      {withForm && (
        <Form submitLabel={t('확인하기', 'Confirm')} onSubmit={confirm}>
          {withPassword ? <PasswordField autoComplete="current-password" /> : <SecondFactorField />}
        </Form>
      )}
      {buttons.map(([label, run]) => (
        <button type="button" className="button" key={label} onClick={() => attempt(run)}>
          {label}
        </button>
      ))}
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
}

/** Leaves the page; the callback page comes back to it, and the user repeats what they did. */
const confirmWith = (provider: string) =>
  dure.auth.loginWith(provider, { purpose: 'confirm', returnTo: location.pathname });

/** A new session with a passkey counts as confirmed. @returns false for the passkey of another account, which the action is not for */
async function logInAgain(): Promise<boolean> {
  const before = dure.userId();
  const { user } = await dure.passkeys.logIn();
  return user.id === before;
}
