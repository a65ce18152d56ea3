import { isApiError } from '@dure/client';
import { useMutation, useSession } from '@dure/react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { dure, type User } from '../api.ts';
import { change } from '../app/change.ts';
import { t } from '../text.ts';
import { ButtonLink, Form, Loaded, Page, Skeleton, TextField } from '../ui/index.ts';
import { NewPasswordField } from './fields.tsx';
import { proofs, type SignUpState } from './sign-up.tsx';

/** By the operation that sends the email. Its response is the same for any address. */
const emails = {
  findUserId: {
    title: t('아이디 찾기', 'Forgot username'),
    lead: t(
      '가입하신 이메일을 입력하시면 아이디를 메일로 보내 드립니다.',
      'Enter your email, and we will send your username to it.',
    ),
    submitLabel: t('아이디 받기', 'Send my username'),
  },
  requestPasswordReset: {
    title: t('비밀번호 찾기', 'Forgot password'),
    lead: t(
      '가입하신 이메일을 입력하시면 비밀번호를 다시 설정하는 링크를 보내 드립니다.',
      'Enter your email, and we will send a link to set a new password.',
    ),
    submitLabel: t('링크 받기', 'Send a link'),
  },
};

export const FindId = () => <RequestEmail operation="findUserId" />;
export const RequestReset = () => <RequestEmail operation="requestPasswordReset" />;

function RequestEmail({ operation }: { operation: keyof typeof emails }) {
  const { title, lead, submitLabel } = emails[operation];
  // Why the page is shown.
  const { state: reason }: { state: string | null } = useLocation();
  const [response, setResponse] = useState('');

  async function send({ email }: { email: string }) {
    setResponse('');
    const { message } = await dure.request(operation, { email: email.trim() });
    setResponse(message);
  }

  return (
    <Page title={title} lead={lead} width="form-page" back={{ to: '/login', label: t('로그인', 'Log in') }}>
      {reason && !response && <p className="note warn">{reason}</p>}
      <Form
        values={{ email: '' }}
        submitLabel={submitLabel}
        pendingLabel={t('보내는 중…', 'Sending…')}
        onSubmit={send}
      >
        <TextField name="email" type="email" label={t('이메일', 'Email')} autoComplete="email" />
      </Form>
      <div role="status">{response && <p className="note">{response}</p>}</div>
    </Page>
  );
}

/** Where the link of the reset mail leads: sets a new password. */
export function ResetPassword() {
  const [query] = useSearchParams();
  const navigate = useNavigate();
  const link = { uid: query.get('uid') ?? '', token: query.get('token') ?? '' };
  // Asked once, whoever is signed in: when the password is set, the link is used up before this page is left.
  const validated = useQuery({
    queryKey: ['reset-link', link],
    queryFn: () => dure.auth.validatePasswordReset(link),
    staleTime: Infinity,
    retry: false,
  });

  async function setPassword(entered: { new_password: string }) {
    await change(dure.auth.confirmPasswordReset, { ...link, ...entered });
    await leave();
    navigate('/login', { replace: true });
  }

  if (isApiError(validated.error, 'validatePasswordReset') && validated.error.code === 'reset_link_invalid') {
    return <Navigate replace to="/reset-password-request" state={validated.error.detail} />;
  }
  return (
    <Page title={t('새 비밀번호 설정', 'Set a new password')} width="form-page">
      <Loaded query={validated}>
        {() => (
          <Form
            values={{ new_password: '' }}
            submitLabel={t('비밀번호 바꾸기', 'Change password')}
            pendingLabel={t('바꾸는 중…', 'Changing…')}
            onSubmit={setPassword}
          >
            <NewPasswordField name="new_password" label={t('새 비밀번호', 'New password')} />
          </Form>
        )}
      </Loaded>
    </Page>
  );
}

/** The service has ended all sessions, also one of this browser, so that an error here changes nothing. */
async function leave(): Promise<void> {
  if (dure.isSignedIn()) await dure.auth.logOut().catch(() => undefined);
}

/** Where the link of the mail with a code leads. A button, because programs that check emails open links, too. */
export function ConfirmEmail() {
  const { status, user } = useSession();
  const [query] = useSearchParams();
  const token = query.get('token') ?? '';
  return (
    <Page title={t('이메일 인증', 'Verify your email')} width="form-page">
      {status === 'signed_out' && <ConfirmForNewAccount token={token} />}
      {status !== 'signed_out' && (user ? <ConfirmForAccount token={token} user={user} /> : <Skeleton />)}
    </Page>
  );
}

function ConfirmForNewAccount({ token }: { token: string }) {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();

  async function confirm() {
    const proved = await dure.auth.confirmEmail({ token });
    // The tab with the form goes on by itself.
    proofs.postMessage(proved);
    navigate('/signup', { replace: true, state: { proved } satisfies SignUpState });
  }

  return (
    <>
      <p>
        {t(
          '이미 가입하셨다면 로그인한 뒤 인증해 주세요. 아직 계정이 없으시면 메일을 받으신 주소로 가입하실 수 있습니다.',
          'If you have an account, log in to verify its email. If you have none, sign up with the address that got the mail.',
        )}
      </p>
      <div>
        <ButtonLink
          look="primary"
          to={`/login?next=${encodeURIComponent(pathname + search)}`}
          label={t('로그인하고 인증하기', 'Log in and verify')}
        />
      </div>
      <Form submitLabel={t('이 주소로 가입하기', 'Sign up with this address')} onSubmit={confirm} />
    </>
  );
}

/** Verifies the account that is signed in: its user must see which one that is. */
function ConfirmForAccount({ token, user }: { token: string; user: User }) {
  const { data, mutateAsync } = useMutation(dure.auth.confirmEmail);
  if (data) {
    return (
      <p className="note" role="status">
        {data.email === user.email
          ? t('이메일을 인증했습니다.', 'Your email is verified.')
          : t(
              `${data.email} 주소를 확인했지만 로그인하신 계정의 이메일이 아니어서 인증된 계정은 없습니다.`,
              `We have checked ${data.email}, but it is not the email of your account, so no account was verified.`,
            )}
      </p>
    );
  }
  if (user.is_verified) {
    return t(
      '로그인하신 계정의 이메일은 이미 인증되어 있습니다. 이메일을 변경하시려면 메일의 인증번호를 계정 화면에 입력해 주세요.',
      'The email of your account is verified already. To change your email, enter the code of the mail on the account page.',
    );
  }
  return (
    <>
      <p>
        {t(
          `아이디 ${user.username} 계정의 이메일을 인증합니다. 본인의 계정이 아니면 인증하지 마세요.`,
          `This verifies the email of the account with the username ${user.username}. Do not go on if that is not your account.`,
        )}
      </p>
      <Form submitLabel={t('이메일 인증하기', 'Verify your email')} onSubmit={() => mutateAsync({ token })} />
    </>
  );
}

/** Where the link of the mail about a changed address leads. A button, because programs that check emails open links, too. */
export function UndoEmailChange() {
  const [query] = useSearchParams();
  const [result, setResult] = useState('');

  async function undo() {
    const { message } = await dure.request('undoEmailChange', { token: query.get('token') ?? '' });
    await leave();
    setResult(message);
  }

  return (
    <Page
      title={t('이메일 변경 되돌리기', 'Undo the change of your email')}
      lead={t(
        '이메일을 변경한 적이 없다면 되돌려 주세요. 예전 주소가 다시 쓰이고, 모든 기기에서 로그아웃되며, 비밀번호를 다시 설정하는 링크를 예전 주소로 보내 드립니다.',
        'If you did not change your email, undo it here. Your old address is restored, all devices are logged out, and we send a link to set a new password to the old address.',
      )}
      width="form-page"
    >
      {result ? (
        <p className="note" role="status">
          {result}
        </p>
      ) : (
        <Form submitLabel={t('예전 주소로 되돌리기', 'Restore my old address')} onSubmit={undo} />
      )}
    </Page>
  );
}
