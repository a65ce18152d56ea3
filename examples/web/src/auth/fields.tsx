import { type ReactNode, useEffect, useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { Button, CodeField, Form, PasswordField, TextField } from '../ui/index.ts';

interface CodeFormProps {
  email: string;
  submitLabel?: string;
  onCode: (code: string) => Promise<unknown>;
  actions?: ReactNode;
}

/** Takes the six digits that were mailed, and sends them again on request. */
export function CodeForm({ email, submitLabel = t('인증하기', 'Verify'), onCode, actions }: CodeFormProps) {
  const [wait, setWait] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setWait(Math.max(0, wait - 1)), 1_000);
    return () => clearTimeout(timer);
  }, [wait]);

  async function resend() {
    const { data, message } = await dure.request('sendVerificationCode', { email });
    toast(message);
    setWait(data.resend_after);
  }

  const again = t('인증번호 다시 받기', 'Send a new code');
  return (
    <div className="stack">
      <Form
        values={{ code: '' }}
        submitLabel={submitLabel}
        pendingLabel={t('확인하는 중…', 'Checking…')}
        onSubmit={({ code }) => onCode(code)}
        actions={actions}
      >
        <CodeField
          hint={t(
            '메일이 보이지 않으면 스팸함도 확인해 주세요.',
            'If you do not see the email, check your spam folder.',
          )}
        />
      </Form>
      <div>
        <Button
          look="plain"
          label={wait > 0 ? t(`다시 받기 (${wait}초 후)`, `Send a new code (in ${wait} s)`) : again}
          onClick={resend}
          disabled={wait > 0}
        />
      </div>
    </div>
  );
}

/** What to do with the code that was mailed to an address. */
export const codeSentTo = (email: string) =>
  t(
    `${email} 주소로 보내 드린 인증번호 6자리를 입력해 주세요.`,
    `Enter the 6 digits that we sent to ${email}.`,
  );

/** In place of the rule of {@link CodeField}, which has the same name. */
const anyText = { onChange: () => undefined };

/** A code of the authenticator app, or a recovery code. */
export function SecondFactorField() {
  const { setValue } = useFormContext();
  const [isRecovery, setRecovery] = useState(false);
  const label = t('복구 코드', 'Recovery code');
  return (
    <>
      {isRecovery ? (
        <TextField name="code" rules={anyText} label={label} autoComplete="off" autoCapitalize="none" />
      ) : (
        <CodeField hint={t('인증 앱에 표시된 6자리 숫자입니다.', 'The 6 digits that your app shows.')} />
      )}
      <div>
        <Button
          look="plain"
          label={isRecovery ? t('인증 앱 사용', 'Use the app') : t('복구 코드 사용', 'Use a recovery code')}
          onClick={() => {
            setValue('code', '');
            setRecovery(!isRecovery);
          }}
        />
      </div>
    </>
  );
}

/** What was entered. Recovery codes may be pasted with spaces. */
export const secondFactorIn = (code: string) => code.replace(/\s/g, '');

/** A password that is chosen. */
export function NewPasswordField({ name, label }: { name: string; label?: string }) {
  return (
    <PasswordField
      name={name}
      label={label ?? t('비밀번호', 'Password')}
      hint={t(
        '8자 이상으로 정해 주세요. 아이디나 흔한 비밀번호는 쓸 수 없습니다.',
        'At least 8 characters. Not your username, and not a common password.',
      )}
      autoComplete="new-password"
    />
  );
}
