import { useState } from 'preact/hooks';
import { dure } from '../api.ts';
import { useLanguage } from '../texts/language.tsx';
import { CodeField, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Page } from './page.tsx';

interface SecondFactorProps {
  /** Of the first step of the login. */
  token: string;
  onRestart: () => void;
}

/** The second step of a login: a code of the authenticator app, or a recovery code. */
export function SecondFactor({ token, onRestart }: SecondFactorProps) {
  const { t } = useLanguage();
  const [isRecovery, setRecovery] = useState(false);
  return (
    <Page
      title={t.secondFactor.title}
      lead={isRecovery ? t.secondFactor.recoveryLead : t.secondFactor.lead}
      width="form-page"
    >
      <div class="stack">
        <Form
          key={isRecovery}
          submitLabel={t.logIn.submit}
          onSubmit={async (read) => {
            await dure.auth.finishLogin({ second_factor_token: token, code: read('code').trim() });
          }}
          actions={
            <button type="button" class="button plain" onClick={() => setRecovery(!isRecovery)}>
              {isRecovery ? t.secondFactor.useApp : t.secondFactor.useRecoveryCode}
            </button>
          }
        >
          {isRecovery ? (
            <TextField
              name="code"
              label={t.secondFactor.recoveryCode}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
            />
          ) : (
            <CodeField />
          )}
        </Form>
        <p>
          <button type="button" class="button plain" onClick={onRestart}>
            {t.secondFactor.restart}
          </button>
        </p>
      </div>
    </Page>
  );
}
