import { type Output, supportsPasskeys } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { QRCodeSVG } from 'qrcode.react';
import { useState } from 'react';
import { toast } from 'react-hot-toast/headless';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { m } from '../paraglide/messages.js';
import { CodeField, TextField } from '../ui/fields.tsx';
import { AskButton, Button, Card, Facts, Form, Item, List, Loaded, Page, Time } from '../ui/index.ts';
import { account, describeDevice, nameOfMethod } from './names.ts';

export function LoginMethods() {
  return (
    <Page title={m.ways_to_log_in()} width="narrow" back={account()}>
      <Identities />
      <Passkeys />
      <TwoStep />
    </Page>
  );
}

function Identities() {
  const offered = useObject(dure.auth.listLoginProviders).data?.items ?? [];
  const identities = useInfiniteList(dure.auth.listIdentities);
  const connected = identities.items.map(({ provider }) => provider);
  const others = identities.isSuccess ? offered.filter(({ id }) => !connected.includes(id)) : [];
  const connect = (provider: string) =>
    confirmed(() => dure.auth.loginWith(provider, { purpose: 'link', returnTo: location.pathname }));
  const none = <p>{m.there_is_nothing_to_connect()}</p>;
  return (
    <Card title={m.connected_logins()} text={m.log_in_with_these_without()}>
      <List query={identities} empty={offered.length === 0 && none}>
        {({ id, provider, email, last_used_at }) => (
          <Item
            title={nameOfMethod(provider)}
            actions={
              <AskButton
                label={m.disconnect()}
                about={nameOfMethod(provider)}
                title={m.disconnect_2({ name: nameOfMethod(provider) })}
                text={m.you_will_not_be_able()}
                onConfirm={() => change(dure.auth.removeIdentity, { identity_id: id })}
              />
            }>
            {email && `${email} · `}
            {m.last_used()} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      <div className="row">
        {others.map(({ id, name }) => (
          <Button key={id} label={m.connect({ name })} onClick={() => connect(id)} />
        ))}
      </div>
    </Card>
  );
}

function Passkeys() {
  const passkeys = useInfiniteList(dure.passkeys.list);
  const register = () => dure.passkeys.register({ name: describeDevice(navigator.userAgent) });
  const add = () => confirmed(register).then(() => passkeys.refetch());
  return (
    <Card title={m.passkeys()} text={m.log_in_with_your_fingerprint()}>
      <List query={passkeys} empty={<p className="soft small">{m.no_passkeys_yet()}</p>}>
        {({ id, name, is_synced, last_used_at }) => (
          <Item
            title={name}
            actions={
              <div className="row">
                <AskButton
                  label={m.rename()}
                  about={name}
                  confirmLabel={m.save()}
                  values={{ name }}
                  onConfirm={(entered) => change(dure.passkeys.update, { passkey_id: id, ...entered })}>
                  <TextField name="name" label={m.name_of_the_passkey()} />
                </AskButton>
                <AskButton
                  danger
                  label={m.delete_label()}
                  about={name}
                  title={m.delete_the_passkey({ name })}
                  text={m.it_will_no_longer_log()}
                  onConfirm={() => change(dure.passkeys.delete, { passkey_id: id })}
                />
              </div>
            }>
            {is_synced ? m.synced() : m.on_one_device_only()} · {m.last_used()} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      {supportsPasskeys() ? (
        <Form submitLabel={m.add_a_passkey()} onSubmit={add} />
      ) : (
        <p>{m.this_browser_has_no_passkeys()}</p>
      )}
    </Card>
  );
}

function TwoStep() {
  const status = useObject(dure.secondFactor.get);
  const [setup, setSetup] = useState<Output<'startTotp'>>();
  const [codes, setCodes] = useState<string[]>();
  const isOn = status.data && status.data.totp_enabled_at !== null;
  const switchOn = m.switch_on_2();

  const start = async () => setSetup(await confirmed(() => dure.secondFactor.startTotp()));
  const finish = async (entered: { code: string }) =>
    show(await change(dure.secondFactor.confirmTotp, entered));
  const renew = async () => show(await change(dure.secondFactor.replaceRecoveryCodes, {}));

  function show({ recovery_codes }: { recovery_codes: string[] }) {
    setSetup(undefined);
    setCodes(recovery_codes);
  }

  function content(left: number) {
    if (codes) return <RecoveryCodes codes={codes} onKept={() => setCodes(undefined)} />;
    if (isOn) return <SwitchedOn left={left} onRenew={renew} />;
    if (setup === undefined) return <Form key="start" submitLabel={switchOn} onSubmit={start} />;
    const { otpauth_uri: uri, secret } = setup;
    const key = <code>{secret.replace(/.{4}(?=.)/g, '$& ')}</code>;
    const cancel = <Button label={m.cancel()} onClick={() => setSetup(undefined)} />;
    return (
      <Form key="finish" values={{ code: '' }} submitLabel={switchOn} onSubmit={finish} actions={cancel}>
        <p>{m.scan_the_qr_code_with()}</p>
        <QRCodeSVG value={uri} size={208} marginSize={4} aria-label={m.qr_code_for_your_authenticator()} />
        <Facts facts={{ [m.key_to_enter_by_hand()]: key }} />
        <p>
          <a href={uri}>{m.open_in_an_app_on()}</a>
        </p>
        <CodeField />
      </Form>
    );
  }

  return (
    <Card title={m.two_step_verification()} chip={isOn && m.on()} text={m.after_your_password_or_a()}>
      <Loaded query={status}>{({ recovery_codes_left }) => content(recovery_codes_left)}</Loaded>
    </Card>
  );
}

function SwitchedOn({ left, onRenew }: { left: number; onRenew: () => Promise<void> }) {
  return (
    <>
      <p>{m.recovery_code_left({ left })}</p>
      <div className="row">
        <AskButton
          label={m.get_new_recovery_codes()}
          title={m.get_new_recovery_codes_2()}
          text={m.the_codes_that_you_have()}
          onConfirm={onRenew}
        />
        <AskButton
          danger
          label={m.switch_off_2()}
          title={m.switch_off_two_step_verification()}
          text={m.we_will_no_longer_ask()}
          onConfirm={() => change(dure.secondFactor.removeTotp, {})}
        />
      </div>
    </>
  );
}

/** The service shows them once. */
function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const title = m.recovery_codes();
  const text = `${m.dure()} ${title}\n${codes.join('\n')}\n`;
  const url = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;

  async function copy() {
    await navigator.clipboard.writeText(text);
    toast(m.copied());
  }

  return (
    <>
      <h3>{title}</h3>
      <p className="note warn">{m.you_need_one_when_you()}</p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="row">
        <Button label={m.copy()} onClick={copy} />
        <a className="button" href={url} download="dure-recovery-codes.txt">
          {m.save_as_a_file()}
        </a>
        <Button look="primary" label={m.i_have_saved_them()} onClick={onKept} />
      </div>
    </>
  );
}
