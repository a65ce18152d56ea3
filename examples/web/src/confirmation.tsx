import { isApiError, supportsPasskeys } from '@dure/client';
import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useState } from 'preact/hooks';
import { dure } from './api.ts';
import { CancelButton, Dialog } from './components/dialog.tsx';
import { PasswordField, TextField } from './components/field.tsx';
import { Form } from './components/form.tsx';
import { useAttempt } from './hooks/use-attempt.ts';
import { useLanguage } from './texts/language.tsx';

/** What the service may do only after a confirmation. It gets the password where that was the confirmation. */
type Action<Result> = (password?: string) => Promise<Result>;
type Confirmed = <Result>(action: Action<Result>) => Promise<Result>;

interface Question {
  methods: readonly string[];
  /** Runs the action again. */
  repeat(password?: string): void;
  cancel(): void;
}

const Context = createContext<Confirmed | null>(null);

/** Asks for a confirmation where the service wants one, and then repeats what the user did. */
export function ConfirmationProvider({ children }: { children: ComponentChildren }) {
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
  return code === 'confirmation_required' && 'methods' in data && Array.isArray(data.methods)
    ? data.methods
    : undefined;
}

function ConfirmationDialog({ methods, repeat, cancel }: Question) {
  const { t } = useLanguage();
  const attempt = useAttempt();
  const withPassword = methods.includes('password');
  const withCode = methods.includes('totp');
  const [usesCode, setUsesCode] = useState(!withPassword);
  const providers = methods.filter((one) => !['password', 'totp', 'recovery_code'].includes(one));
  const withPasskey = !withPassword && supportsPasskeys();
  const cancelButton = <CancelButton onClick={cancel} />;

  return (
    <Dialog title={t.confirmation.title} onClose={cancel}>
      <p>{t.confirmation.text}</p>
      {(withPassword || withCode) && (
        <Form
          key={usesCode}
          submitLabel={t.confirmation.submit}
          onSubmit={async (read) => {
            const password = usesCode ? undefined : read('password');
            await dure.auth.confirmUser(
              password === undefined ? { code: read('code').trim() } : { password },
            );
            repeat(password);
          }}
          actions={cancelButton}
        >
          {usesCode ? (
            <TextField name="code" label={t.confirmation.code} autocomplete="one-time-code" />
          ) : (
            <PasswordField name="password" label={t.fields.password} autocomplete="current-password" />
          )}
        </Form>
      )}
      {withPassword && withCode && (
        <button type="button" class="button plain" onClick={() => setUsesCode(!usesCode)}>
          {usesCode ? t.confirmation.usePassword : t.confirmation.useCode}
        </button>
      )}
      {providers.map((id) => (
        <button type="button" class="button" key={id} onClick={() => attempt(() => confirmWith(id))}>
          {t.confirmation.withProvider(t.loginMethods.names[id] ?? id)}
        </button>
      ))}
      {withPasskey && (
        <button
          type="button"
          class="button"
          onClick={() => attempt(async () => ((await logInAgain()) ? repeat() : cancel()))}
        >
          {t.confirmation.withPasskey}
        </button>
      )}
      {methods.length === 0 && !withPasskey && <p class="note warn">{t.confirmation.logInAgain}</p>}
      {!withPassword && !withCode && <div class="row">{cancelButton}</div>}
    </Dialog>
  );
}

/** Leaves the page; the callback page comes back to it, and the user repeats what they did. */
function confirmWith(provider: string): Promise<void> {
  return dure.auth.loginWith(provider, { purpose: 'confirm', returnTo: location.pathname });
}

/** A new session with a passkey counts as confirmed. @returns false for the passkey of another account, which the action is not for */
async function logInAgain(): Promise<boolean> {
  const before = dure.userId();
  const { user } = await dure.passkeys.logIn();
  return user.id === before;
}

/** Runs what may need a confirmation. */
export function useConfirmed(): Confirmed {
  const value = useContext(Context);
  if (value === null) throw new Error('useConfirmed needs a ConfirmationProvider');
  return value;
}
