import { useState } from 'react';
import { t } from '../text.ts';
import { CodeField, TextField } from '../ui/index.ts';

/** A code of the authenticator app, or a recovery code. */
export function SecondFactorField() {
  const [isRecovery, setRecovery] = useState(false);
  return (
    <>
      {isRecovery ? (
        <TextField
          name="code"
          label={t('복구 코드', 'Recovery code')}
          autoComplete="off"
          autoCapitalize="none"
        />
      ) : (
        <CodeField hint={t('인증 앱에 표시된 6자리 숫자입니다.', 'The 6 digits that your app shows.')} />
      )}
      <div>
        <button type="button" className="button plain" onClick={() => setRecovery(!isRecovery)}>
          {isRecovery ? t('인증 앱 사용', 'Use the app') : t('복구 코드 사용', 'Use a recovery code')}
        </button>
      </div>
    </>
  );
}

/** What was entered. Recovery codes may be pasted with spaces. */
export const secondFactorIn = (read: (name: string) => string) => read('code').replace(/\s/g, '');
