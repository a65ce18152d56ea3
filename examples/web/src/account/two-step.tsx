import type { Output } from '@dure/client';
import { useObject } from '@dure/react';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { t } from '../text.ts';
import { AskButton, Button, CancelButton, Card, CodeField, Facts, Form, Loaded } from '../ui/index.ts';

/** The second step of logins: off, being set up, or on. */
export function TwoStep() {
  const status = useObject(dure.secondFactor.get);
  const [setup, setSetup] = useState<Output<'startTotp'>>();
  const [codes, setCodes] = useState<string[]>();
  const isOn = status.data && status.data.totp_enabled_at !== null;
  const switchOn = t('2단계 인증 켜기', 'Switch on');
  const pending = t('켜는 중…', 'Switching on…');

  const start = async () => setSetup(await confirmed(() => dure.secondFactor.startTotp()));
  const renew = async () => show(await change(dure.secondFactor.replaceRecoveryCodes, {}));

  function show({ recovery_codes }: { recovery_codes: string[] }) {
    setSetup(undefined);
    setCodes(recovery_codes);
  }

  function content(left: number) {
    if (codes) return <RecoveryCodes codes={codes} onKept={() => setCodes(undefined)} />;
    if (isOn) return <SwitchedOn left={left} onRenew={renew} />;
    if (setup === undefined)
      return <Form key="start" submitLabel={switchOn} pendingLabel={pending} onSubmit={start} />;
    return (
      <Form
        key="finish"
        values={{ code: '' }}
        submitLabel={switchOn}
        pendingLabel={pending}
        onSubmit={async (entered) => show(await change(dure.secondFactor.confirmTotp, entered))}
        actions={<CancelButton onClick={() => setSetup(undefined)} />}
      >
        <Setup {...setup} />
        <CodeField />
      </Form>
    );
  }

  return (
    <Card
      title={t('2단계 인증', 'Two-step verification')}
      chip={isOn && t('사용 중', 'on')}
      text={t(
        '비밀번호나 간편 로그인 뒤에 인증 앱의 인증번호를 한 번 더 확인합니다.',
        'After your password or a connected login, we also ask for a code of your authenticator app.',
      )}
    >
      <Loaded query={status}>{({ recovery_codes_left }) => content(recovery_codes_left)}</Loaded>
    </Card>
  );
}

function Setup({ secret, otpauth_uri }: Output<'startTotp'>) {
  const label = t('인증 앱에 등록할 QR 코드', 'QR code for your authenticator app');
  const key = <code>{secret.replace(/.{4}(?=.)/g, '$& ')}</code>;
  return (
    <>
      <p>
        {t(
          '인증 앱에서 QR 코드를 찍은 뒤, 앱에 표시된 인증번호를 입력해 주세요.',
          'Scan the QR code with your authenticator app, then enter the code that it shows.',
        )}
      </p>
      <QRCodeSVG value={otpauth_uri} size={208} marginSize={4} aria-label={label} />
      <Facts facts={{ [t('직접 입력할 키', 'Key to enter by hand')]: key }} />
      <p>
        <a href={otpauth_uri}>{t('이 기기의 인증 앱에서 열기', 'Open in an app on this device')}</a>
      </p>
    </>
  );
}

function SwitchedOn({ left, onRenew }: { left: number; onRenew: () => Promise<void> }) {
  return (
    <>
      <p>{t(`남은 복구 코드 ${left}개`, `${left} recovery code${left === 1 ? '' : 's'} left`)}</p>
      <div className="row">
        <AskButton
          label={t('복구 코드 새로 받기', 'Get new recovery codes')}
          title={t('복구 코드를 새로 받을까요?', 'Get new recovery codes?')}
          text={t(
            '지금까지의 복구 코드는 더 이상 쓸 수 없습니다.',
            'The codes that you have now will stop working.',
          )}
          onConfirm={onRenew}
        />
        <AskButton
          danger
          label={t('2단계 인증 끄기', 'Switch off')}
          title={t('2단계 인증을 끌까요?', 'Switch off two-step verification?')}
          text={t(
            '로그인할 때 인증번호를 확인하지 않으며, 복구 코드도 쓸 수 없게 됩니다.',
            'We will no longer ask for a code when you log in. Your recovery codes stop working.',
          )}
          onConfirm={() => change(dure.secondFactor.removeTotp, {})}
        />
      </div>
    </>
  );
}

/** The service shows them once. */
function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const title = t('복구 코드', 'Recovery codes');
  const text = `${t('두레', 'Dure')} ${title}\n${codes.join('\n')}\n`;
  const url = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;

  async function copy() {
    await navigator.clipboard.writeText(text);
    toast(t('복사했습니다.', 'Copied.'));
  }

  return (
    <>
      <h3>{title}</h3>
      <p className="note warn">
        {t(
          '인증 앱을 쓸 수 없을 때 필요합니다. 지금만 보이니 안전한 곳에 보관해 주세요. 코드마다 한 번씩 쓸 수 있습니다.',
          'You need one when you cannot use your app. They are shown only now: save them in a safe place. Each works once.',
        )}
      </p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="row">
        <Button label={t('복사', 'Copy')} onClick={copy} />
        <a className="button" href={url} download="dure-recovery-codes.txt">
          {t('파일로 저장', 'Save as a file')}
        </a>
        <Button look="primary" label={t('보관했습니다', 'I have saved them')} onClick={onKept} />
      </div>
    </>
  );
}
