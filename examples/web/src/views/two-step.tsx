import { useState } from 'preact/hooks';
import { dure, type SecondFactor, type TotpSecret } from '../api.ts';
import { ConfirmDialog } from '../components/dialog.tsx';
import { CodeField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { QrCode } from '../components/qr-code.tsx';
import { RecoveryCodes } from '../components/recovery-codes.tsx';
import { LoadError, Skeleton } from '../components/states.tsx';
import { useToasts } from '../components/toasts.tsx';
import { useConfirmed } from '../confirmation.tsx';
import { useLoad } from '../hooks/use-load.ts';
import { useLanguage } from '../texts/language.tsx';

/** The second step of logins: off, being set up, or on. */
export function TwoStep() {
  const { t } = useLanguage();
  const { show } = useToasts();
  const confirmed = useConfirmed();
  const { value, error, reload } = useLoad((signal) => dure.secondFactor.get({}, { signal }), []);
  const [secret, setSecret] = useState<TotpSecret>();
  const [codes, setCodes] = useState<string[]>();

  async function switchOn(code: string) {
    const { recovery_codes } = await confirmed(() => dure.secondFactor.confirmTotp({ code }));
    setSecret(undefined);
    setCodes(recovery_codes);
    show(t.twoStep.done);
  }

  function content() {
    if (codes) {
      const onKept = () => {
        setCodes(undefined);
        reload();
      };
      return <RecoveryCodes codes={codes} onKept={onKept} />;
    }
    if (error !== undefined) return <LoadError error={error} onRetry={reload} />;
    if (value === undefined) return <Skeleton count={1} height="3rem" />;
    if (secret) return <Setup secret={secret} onCode={switchOn} onCancel={() => setSecret(undefined)} />;
    if (value.totp_enabled_at !== null)
      return <SwitchedOn status={value} onCodes={setCodes} onOff={reload} />;
    return (
      <Form
        submitLabel={t.twoStep.switchOn}
        onSubmit={async () => setSecret(await confirmed(() => dure.secondFactor.startTotp()))}
      />
    );
  }

  return (
    <section class="card stack">
      <h2>
        {t.twoStep.title}{' '}
        {value && value.totp_enabled_at !== null && <span class="chip">{t.twoStep.isOn}</span>}
      </h2>
      <p class="soft">{t.twoStep.text}</p>
      {content()}
    </section>
  );
}

interface SetupProps {
  secret: TotpSecret;
  onCode: (code: string) => Promise<void>;
  onCancel: () => void;
}

function Setup({ secret: { secret, otpauth_uri }, onCode, onCancel }: SetupProps) {
  const { t } = useLanguage();
  return (
    <>
      <p>{t.twoStep.scan}</p>
      <QrCode text={otpauth_uri} label={t.twoStep.qrCode} />
      <dl class="facts">
        <div>
          <dt>{t.twoStep.secret}</dt>
          <dd>
            <code>{secret.replace(/.{4}(?=.)/g, '$& ')}</code>
          </dd>
        </div>
      </dl>
      <p>
        <a href={otpauth_uri}>{t.twoStep.openApp}</a>
      </p>
      <Form
        submitLabel={t.twoStep.switchOn}
        onSubmit={(read) => onCode(read('code').trim())}
        actions={
          <button type="button" class="button" onClick={onCancel}>
            {t.common.cancel}
          </button>
        }
      >
        <CodeField />
      </Form>
    </>
  );
}

interface SwitchedOnProps {
  status: SecondFactor;
  onCodes: (codes: string[]) => void;
  onOff: () => void;
}

function SwitchedOn({ status, onCodes, onOff }: SwitchedOnProps) {
  const { t } = useLanguage();
  const { show } = useToasts();
  const confirmed = useConfirmed();
  const [asking, setAsking] = useState<'codes' | 'off'>();
  const onClose = () => setAsking(undefined);
  return (
    <>
      <p>{t.twoStep.codesLeft(status.recovery_codes_left)}</p>
      <div class="row">
        <button type="button" class="button" onClick={() => setAsking('codes')}>
          {t.twoStep.newCodes}
        </button>
        <button type="button" class="button danger" onClick={() => setAsking('off')}>
          {t.twoStep.switchOff}
        </button>
      </div>
      {asking === 'codes' && (
        <ConfirmDialog
          title={t.twoStep.newCodesTitle}
          text={t.twoStep.newCodesText}
          confirmLabel={t.twoStep.newCodes}
          onClose={onClose}
          onConfirm={async () => {
            const { recovery_codes } = await confirmed(() => dure.secondFactor.replaceRecoveryCodes());
            onCodes(recovery_codes);
          }}
        />
      )}
      {asking === 'off' && (
        <ConfirmDialog
          title={t.twoStep.switchOffTitle}
          text={t.twoStep.switchOffText}
          confirmLabel={t.twoStep.switchOff}
          onClose={onClose}
          onConfirm={async () => {
            await confirmed(() => dure.secondFactor.removeTotp());
            show(t.twoStep.switchedOff);
            onOff();
          }}
        />
      )}
    </>
  );
}
