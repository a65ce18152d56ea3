import { useState } from 'react';
import { Link } from 'react-router';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { useAccount } from '../app/session.tsx';
import { CodeForm, codeSentTo, NewPasswordField } from '../auth/fields.tsx';
import { t } from '../text.ts';
import {
  AskButton,
  Button,
  CancelButton,
  Card,
  Facts,
  Form,
  Page,
  PasswordField,
  TextField,
} from '../ui/index.ts';
import { Consents } from './consents.tsx';

const subpages = {
  '/account/alerts': t('알림 설정', 'Alert settings'),
  '/account/login-methods': t('로그인 방법', 'Ways to log in'),
  '/sessions': t('로그인된 기기', 'Devices'),
};

/** The account: name, address, password, devices, log out, delete. */
export function Account() {
  const { user } = useAccount();
  const email = (
    <>
      {user.email} {user.is_verified && <span className="chip">{t('인증됨', 'verified')}</span>}
    </>
  );
  return (
    <Page
      title={t('계정', 'Account')}
      width="narrow"
      actions={<Button label={t('로그아웃', 'Log out')} onClick={() => dure.auth.logOut()} />}
    >
      {!user.is_verified && <VerifyEmail email={user.email} />}
      <Card title={t('내 정보', 'Profile')}>
        <Facts facts={{ [t('아이디', 'Username')]: user.username, [t('이메일', 'Email')]: email }} />
        <Form
          draft="name"
          values={{ name: user.name }}
          submitLabel={t('저장', 'Save')}
          pendingLabel={t('저장하는 중…', 'Saving…')}
          onSubmit={({ name }) => change(dure.auth.updateCurrentUser, { name })}
        >
          <TextField name="name" label={t('이름', 'Name')} autoComplete="name" />
        </Form>
      </Card>
      <nav className="card" aria-label={t('설정', 'Settings')}>
        <ul className="items">
          {Object.entries(subpages).map(([path, label]) => (
            <li className="item" key={path}>
              <Link to={path}>{label}</Link>
            </li>
          ))}
        </ul>
      </nav>
      <ChangeEmail />
      <ChangePassword />
      <Consents />
      <Card
        title={t('내 정보 내려받기', 'Download my data')}
        text={t(
          '두레가 보관하는 내 정보를 JSON 파일 하나로 내려받습니다. 하루에 다섯 번까지 받을 수 있습니다.',
          'Everything that Dure has about you, as one JSON file. Up to five times a day.',
        )}
      >
        <Form
          submitLabel={t('내 정보 내려받기', 'Download my data')}
          pendingLabel={t('내려받는 중…', 'Downloading…')}
          onSubmit={downloadOwnData}
        />
      </Card>
      <DeleteAccount />
    </Page>
  );
}

/** Without a verified address, no emails about requests are sent to it. */
function VerifyEmail({ email }: { email: string }) {
  return (
    <MailedCode
      id="verify"
      title={t('이메일을 인증해 주세요', 'Verify your email')}
      text={t(
        '인증하시면 제휴 소식을 메일로도 받아 보실 수 있습니다.',
        'Then you will get news about your requests by email, too.',
      )}
      email={email}
      onCode={(input) => change(dure.auth.confirmEmail, input)}
    />
  );
}

/** Moves the account to another address, which a mailed code proves. */
function ChangeEmail() {
  const title = t('이메일 변경', 'Change email');
  return (
    <MailedCode
      id="email"
      title={title}
      text={t(
        '새 주소로 인증번호를 보내 드립니다. 변경하시면 다른 기기에서는 로그아웃됩니다.',
        'We will send a code to the new address. This logs you out on all other devices.',
      )}
      submitLabel={title}
      onCode={({ email, code }) => change(dure.auth.changeEmail, { new_email: email, code })}
    />
  );
}

interface MailedCodeProps {
  id?: string;
  title: string;
  text: string;
  submitLabel?: string;
  /** Without it, one is entered. */
  email?: string;
  onCode: (input: { email: string; code: string }) => Promise<unknown>;
}

/** Sends a code to an address, and takes it. */
function MailedCode({ email, text, submitLabel, onCode, ...card }: MailedCodeProps) {
  const [sentTo, setSentTo] = useState<string>();
  const close = () => setSentTo(undefined);

  async function send(entered: { email: string }) {
    await dure.auth.sendVerificationCode(entered);
    setSentTo(entered.email);
  }

  return (
    <Card {...card} text={sentTo ? codeSentTo(sentTo) : text}>
      {sentTo ? (
        <CodeForm
          email={sentTo}
          submitLabel={submitLabel}
          onCode={(code) => onCode({ email: sentTo, code }).then(close)}
          actions={<CancelButton onClick={close} />}
        />
      ) : (
        <Form
          values={{ email: email ?? '' }}
          submitLabel={t('인증번호 받기', 'Get a code')}
          pendingLabel={t('보내는 중…', 'Sending…')}
          onSubmit={send}
        >
          {!email && (
            <TextField name="email" type="email" label={t('새 이메일', 'New email')} autoComplete="email" />
          )}
        </Form>
      )}
    </Card>
  );
}

function ChangePassword() {
  // A new key empties the inputs.
  const [version, setVersion] = useState(0);
  const title = t('비밀번호 변경', 'Change password');

  async function save(entered: { current_password: string; new_password: string }) {
    await change(dure.auth.changePassword, entered);
    setVersion(version + 1);
  }

  return (
    <Card
      title={title}
      text={t('변경하시면 다른 기기에서는 로그아웃됩니다.', 'This logs you out on all other devices.')}
    >
      <Form
        key={version}
        values={{ current_password: '', new_password: '' }}
        submitLabel={title}
        pendingLabel={t('변경하는 중…', 'Changing…')}
        onSubmit={save}
      >
        <PasswordField
          name="current_password"
          label={t('현재 비밀번호', 'Current password')}
          autoComplete="current-password"
        />
        <NewPasswordField name="new_password" label={t('새 비밀번호', 'New password')} />
      </Form>
      <Link className="back small" to="/reset-password-request">
        {t('비밀번호가 없거나 잊으셨나요? 메일로 설정하기', 'No password, or forgotten? Set one by email')}
      </Link>
    </Card>
  );
}

async function downloadOwnData(): Promise<void> {
  const data = await confirmed(() => dure.auth.downloadOwnData());
  const file = new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
  const link = Object.assign(document.createElement('a'), { download: 'dure-my-data.json' });
  link.href = URL.createObjectURL(file);
  link.click();
  URL.revokeObjectURL(link.href);
}

function DeleteAccount() {
  const title = t('회원 탈퇴', 'Delete account');
  const text = t(
    '탈퇴하시면 가게와 글이 모두 삭제되며 되돌릴 수 없습니다.',
    'Your shop and your posts will be deleted permanently.',
  );
  return (
    <Card title={title} text={text}>
      <AskButton
        danger
        label={title}
        title={t('탈퇴하시겠어요?', 'Delete your account?')}
        text={text}
        onConfirm={() => change(dure.auth.deleteCurrentUser, {})}
      />
    </Card>
  );
}
