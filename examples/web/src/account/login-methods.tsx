import { supportsPasskeys } from '@dure/client';
import { useInfiniteList, useObject } from '@dure/react';
import { dure } from '../api.ts';
import { change, confirmed } from '../app/change.ts';
import { t } from '../text.ts';
import { AskButton, Button, Card, Form, Item, List, Page, TextField, Time } from '../ui/index.ts';
import { account, describeDevice, nameOfMethod } from './names.ts';
import { TwoStep } from './two-step.tsx';

/** How the account logs in, beside its password. */
export function LoginMethods() {
  return (
    <Page title={t('로그인 방법', 'Ways to log in')} width="narrow" back={account}>
      <Identities />
      <Passkeys />
      <TwoStep />
    </Page>
  );
}

/** The providers that the account logs in with, and those that it can connect. */
function Identities() {
  const offered = useObject(dure.auth.listLoginProviders).data?.items ?? [];
  const identities = useInfiniteList(dure.auth.listIdentities);
  const connected = identities.items.map(({ provider }) => provider);
  const others = identities.isSuccess ? offered.filter(({ id }) => !connected.includes(id)) : [];
  const connect = (provider: string) =>
    confirmed(() => dure.auth.loginWith(provider, { purpose: 'link', returnTo: location.pathname }));
  const none = <p>{t('연결할 수 있는 간편 로그인이 없습니다.', 'There is nothing to connect.')}</p>;
  return (
    <Card
      title={t('간편 로그인', 'Connected logins')}
      text={t('연결하시면 비밀번호 없이 로그인할 수 있습니다.', 'Log in with these, without your password.')}
    >
      <List query={identities} empty={offered.length === 0 && none}>
        {({ id, provider, email, last_used_at }) => (
          <Item title={nameOfMethod(provider)} actions={<Disconnect id={id} name={nameOfMethod(provider)} />}>
            {email && `${email} · `}
            {t('마지막 사용', 'last used')} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      <div className="row">
        {others.map(({ id, name }) => (
          <Button key={id} label={t(`${name} 연결하기`, `Connect ${name}`)} onClick={() => connect(id)} />
        ))}
      </div>
    </Card>
  );
}

function Disconnect({ id, name }: { id: number; name: string }) {
  return (
    <AskButton
      label={t('연결 해제', 'Disconnect')}
      about={name}
      title={t(`${name} 연결을 해제할까요?`, `Disconnect ${name}?`)}
      text={t(
        '다시 연결할 때까지 이 방법으로 로그인할 수 없습니다.',
        'You will not be able to log in this way until you connect it again.',
      )}
      onConfirm={() => change(dure.auth.removeIdentity, { identity_id: id })}
    />
  );
}

function Passkeys() {
  const passkeys = useInfiniteList(dure.passkeys.list);
  const none = <p className="soft small">{t('아직 등록한 패스키가 없습니다.', 'No passkeys yet.')}</p>;

  async function add() {
    await confirmed(() => dure.passkeys.register({ name: describeDevice(navigator.userAgent) }));
    await passkeys.refetch();
  }

  return (
    <Card
      title={t('패스키', 'Passkeys')}
      text={t(
        '지문이나 얼굴, 기기 잠금으로 로그인합니다. 비밀번호와 인증번호가 필요 없습니다.',
        'Log in with your fingerprint, your face or the lock of your device: no password, no code.',
      )}
    >
      <List query={passkeys} empty={none}>
        {({ id, name, is_synced, last_used_at }) => (
          <Item title={name} actions={<ChangePasskey id={id} name={name} />}>
            {is_synced ? t('동기화됨', 'synced') : t('이 기기에만 있음', 'on one device only')} ·{' '}
            {t('마지막 사용', 'last used')} <Time moment={last_used_at} />
          </Item>
        )}
      </List>
      {supportsPasskeys() ? (
        <Form
          submitLabel={t('패스키 추가', 'Add a passkey')}
          pendingLabel={t('추가하는 중…', 'Adding…')}
          onSubmit={add}
        />
      ) : (
        <p>{t('이 브라우저에서는 패스키를 쓸 수 없습니다.', 'This browser has no passkeys.')}</p>
      )}
    </Card>
  );
}

function ChangePasskey({ id, name }: { id: number; name: string }) {
  return (
    <div className="row">
      <AskButton
        label={t('이름 변경', 'Rename')}
        about={name}
        confirmLabel={t('저장', 'Save')}
        pendingLabel={t('저장하는 중…', 'Saving…')}
        values={{ name }}
        onConfirm={(entered) => change(dure.passkeys.update, { passkey_id: id, ...entered })}
      >
        <TextField name="name" label={t('패스키 이름', 'Name of the passkey')} />
      </AskButton>
      <AskButton
        danger
        label={t('삭제', 'Delete')}
        about={name}
        title={t(`패스키 ‘${name}’을(를) 삭제할까요?`, `Delete the passkey “${name}”?`)}
        text={t(
          '더 이상 이 패스키로 로그인할 수 없습니다. 기기에 남은 패스키는 기기 설정에서 지워 주세요.',
          'It will no longer log you in. Remove it in the settings of your device, too.',
        )}
        onConfirm={() => change(dure.passkeys.delete, { passkey_id: id })}
      />
    </div>
  );
}
