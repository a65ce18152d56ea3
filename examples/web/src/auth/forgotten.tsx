import { isApiError } from '@dure/client';
import { useObject } from '@dure/react';
import { useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { useNavigate, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { Form, Loaded, Page, TextField } from '../ui/index.ts';
import { NewPasswordField } from './fields.tsx';

/** Asks for an email with the forgotten username. */
export function FindId() {
  return (
    <MailRequest
      title={t('아이디 찾기', 'Forgot username')}
      lead={t(
        '가입하신 이메일을 입력하시면 아이디를 메일로 보내 드립니다.',
        'Enter your email, and we will send your username to it.',
      )}
      submitLabel={t('아이디 받기', 'Send my username')}
      operation="findUserId"
    />
  );
}

/** Asks for an email with a link that sets a new password. */
export function RequestReset({ note }: { note?: string }) {
  return (
    <MailRequest
      title={t('비밀번호 찾기', 'Forgot password')}
      lead={t(
        '가입하신 이메일을 입력하시면 비밀번호를 다시 설정하는 링크를 보내 드립니다.',
        'Enter your email, and we will send a link to set a new password.',
      )}
      submitLabel={t('링크 받기', 'Send a link')}
      operation="requestPasswordReset"
      note={note}
    />
  );
}

interface MailRequestProps {
  title: string;
  lead: string;
  submitLabel: string;
  /** Its response is the same for any address. */
  operation: 'findUserId' | 'requestPasswordReset';
  /** Why the page is shown. */
  note?: string | undefined;
}

function MailRequest({ title, lead, submitLabel, operation, note }: MailRequestProps) {
  const [response, setResponse] = useState('');
  return (
    <Page title={title} lead={lead} width="form-page" back={{ to: '/login', label: t('로그인', 'Log in') }}>
      <div className="stack">
        {note && !response && <p className="note warn">{note}</p>}
        <Form
          submitLabel={submitLabel}
          onSubmit={async (read) => {
            setResponse('');
            const { message } = await dure.request(operation, { email: read('email').trim() });
            setResponse(message);
          }}
        >
          <TextField name="email" type="email" label={t('이메일', 'Email')} autoComplete="email" />
        </Form>
        <div role="status">{response && <p className="note">{response}</p>}</div>
      </div>
    </Page>
  );
}

/** Where the link of the reset mail leads: sets a new password. */
export function ResetPassword() {
  const [query] = useSearchParams();
  const navigate = useNavigate();
  const link = { uid: query.get('uid') ?? '', token: query.get('token') ?? '' };
  const validated = useObject(dure.auth.validatePasswordReset, link);

  async function setPassword(read: (name: string) => string) {
    await dure.auth.confirmPasswordReset({ ...link, new_password: read('new_password') });
    await leave();
    toast(
      t(
        '비밀번호를 바꾸었습니다. 새 비밀번호로 로그인해 주세요.',
        'Your password has been changed. Log in with the new one.',
      ),
    );
    navigate('/login', { replace: true });
  }

  if (isApiError(validated.error, 'validatePasswordReset') && validated.error.code === 'reset_link_invalid') {
    return <RequestReset note={validated.error.detail} />;
  }
  return (
    <Page title={t('새 비밀번호 설정', 'Set a new password')} width="form-page">
      <Loaded query={validated}>
        {() => (
          <Form submitLabel={t('비밀번호 바꾸기', 'Change password')} onSubmit={setPassword}>
            <NewPasswordField name="new_password" label={t('새 비밀번호', 'New password')} />
          </Form>
        )}
      </Loaded>
    </Page>
  );
}

/** The service has ended all sessions, also one of this browser, so that an error here changes nothing. */
export async function leave(): Promise<void> {
  if (dure.isSignedIn()) await dure.auth.logOut().catch(() => undefined);
}
