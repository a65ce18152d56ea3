import { useMutation, useSession } from '@dure/react';
import { type ReactNode, useState } from 'react';
import { Link, useLocation, useNavigate, useSearchParams } from 'react-router';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { Form, Page, Skeleton } from '../ui/index.ts';
import { leave } from './forgotten.tsx';
import type { SignUpState } from './sign-up.tsx';

/**
 * Where the link of the mail with a code leads. Buttons, because programs that check emails open links, too, and because the link
 * verifies the account that is signed in: its user must see which one that is.
 */
export function ConfirmEmail() {
  const { status, user } = useSession();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const confirm = useMutation(dure.auth.confirmEmail);
  const [result, setResult] = useState('');
  const [query] = useSearchParams();
  const token = query.get('token') ?? '';

  function content(): ReactNode {
    if (result !== '') return <Result text={result} />;
    if (status === 'signed_out') {
      return (
        <>
          <p>
            {t(
              '이미 가입하셨다면 로그인한 뒤 인증해 주세요. 아직 계정이 없으시면 메일을 받으신 주소로 가입하실 수 있습니다.',
              'If you have an account, log in to verify its email. If you have none, sign up with the address that got the mail.',
            )}
          </p>
          <p>
            <Link className="button primary" to={`/login?next=${encodeURIComponent(pathname + search)}`}>
              {t('로그인하고 인증하기', 'Log in and verify')}
            </Link>
          </p>
          <Form
            submitLabel={t('이 주소로 가입하기', 'Sign up with this address')}
            onSubmit={async () => {
              const proved = await confirm.mutateAsync({ token });
              navigate('/signup', { replace: true, state: { proved } satisfies SignUpState });
            }}
          />
        </>
      );
    }
    if (user === undefined) return <Skeleton />;
    if (user.is_verified) {
      return (
        <p>
          {t(
            '로그인하신 계정의 이메일은 이미 인증되어 있습니다. 이메일을 변경하시려면 메일의 인증번호를 계정 화면에 입력해 주세요.',
            'The email of your account is verified already. To change your email, enter the code of the mail on the account page.',
          )}
        </p>
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
        <Form
          submitLabel={t('이메일 인증하기', 'Verify your email')}
          onSubmit={async () => {
            const { email } = await confirm.mutateAsync({ token });
            setResult(
              email === user.email
                ? t('이메일을 인증했습니다.', 'Your email is verified.')
                : t(
                    `${email} 주소를 확인했지만 로그인하신 계정의 이메일이 아니어서 인증된 계정은 없습니다.`,
                    `We have checked ${email}, but it is not the email of your account, so no account was verified.`,
                  ),
            );
          }}
        />
      </>
    );
  }

  return (
    <Page title={t('이메일 인증', 'Verify your email')} width="form-page">
      <div className="stack">{content()}</div>
    </Page>
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
        <Result text={result} />
      ) : (
        <Form submitLabel={t('예전 주소로 되돌리기', 'Restore my old address')} onSubmit={undo} />
      )}
    </Page>
  );
}

function Result({ text }: { text: string }) {
  return (
    <p className="note" role="status">
      {text}
    </p>
  );
}
