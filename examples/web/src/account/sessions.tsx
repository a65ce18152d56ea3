import type { Item as ItemOf } from '@dure/client';
import { useInfiniteList } from '@dure/react';
import { dure } from '../api.ts';
import { change } from '../app/change.ts';
import { t } from '../text.ts';
import { AskButton, Item, List, Page, Time } from '../ui/index.ts';
import { account, describeDevice, nameOfMethod } from './names.ts';

/** The devices that are signed in. */
export function Sessions() {
  const sessions = useInfiniteList(dure.auth.listSessions);
  return (
    <Page
      title={t('로그인된 기기', 'Devices')}
      lead={t(
        '모르는 기기가 있으면 로그아웃하고 비밀번호를 변경해 주세요.',
        'If you do not recognise a device, log out there and change your password.',
      )}
      width="narrow"
      back={account}
    >
      <List query={sessions} empty={null}>
        {(session) => <Session {...session} />}
      </List>
      {sessions.items.length > 1 && (
        <AskButton
          danger
          label={t('다른 기기에서 모두 로그아웃', 'Log out on all other devices')}
          title={t('다른 기기에서 모두 로그아웃할까요?', 'Log out on all other devices?')}
          text={t('이 기기에서는 로그인이 유지됩니다.', 'You stay logged in on this device.')}
          confirmLabel={t('로그아웃', 'Log out')}
          onConfirm={() => change(dure.auth.endOtherSessions, {})}
        />
      )}
    </Page>
  );
}

function Session({ id, user_agent, ip, last_used_at, methods, is_current }: ItemOf<'listSessions'>) {
  const device = describeDevice(user_agent) || t('알 수 없는 기기', 'Unknown device');
  const action = is_current ? (
    <span className="status accepted">{t('지금 이 기기', 'This device')}</span>
  ) : (
    <AskButton
      label={t('로그아웃', 'Log out')}
      about={device}
      title={t('이 기기에서 로그아웃할까요?', 'Log out on this device?')}
      text={t('그 기기에서 다시 쓰려면 로그인해야 합니다.', 'It will have to log in again.')}
      onConfirm={() => change(dure.auth.endSession, { session_id: id })}
    />
  );
  return (
    <Item heading="h2" title={device} actions={action}>
      {ip} · {t('마지막 사용', 'last used')} <Time moment={last_used_at} />
      <br />
      {methods.length > 0 && `${t('로그인 방법:', 'logged in by')} ${methods.map(nameOfMethod).join(', ')}`}
    </Item>
  );
}
