import type { Item } from '@dure/client';
import { useInfiniteList } from '@dure/react';
import { dure } from '../api.ts';
import { t } from '../text.ts';
import { AskButton, List, Page, Time } from '../ui/index.ts';
import { change } from './change.tsx';
import { describeDevice, nameOfMethod } from './names.ts';

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
      back={{ to: '/account', label: t('계정', 'Account') }}
    >
      <div className="stack">
        <List query={sessions} empty={null}>
          {(session) => <Session session={session} />}
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
      </div>
    </Page>
  );
}

function Session({ session }: { session: Item<'listSessions'> }) {
  const device = describeDevice(session.user_agent) || t('알 수 없는 기기', 'Unknown device');
  return (
    <div className="item">
      <div className="spread">
        <h2>{device}</h2>
        {session.is_current ? (
          <span className="status accepted">{t('지금 이 기기', 'This device')}</span>
        ) : (
          <AskButton
            label={t('로그아웃', 'Log out')}
            about={device}
            title={t('이 기기에서 로그아웃할까요?', 'Log out on this device?')}
            text={t('그 기기에서 다시 쓰려면 로그인해야 합니다.', 'It will have to log in again.')}
            onConfirm={() => change(dure.auth.endSession, { session_id: session.id })}
          />
        )}
      </div>
      <p className="soft small">
        {session.ip} · {t('마지막 사용', 'last used')} <Time moment={session.last_used_at} />
      </p>
      {session.methods.length > 0 && (
        <p className="soft small">
          {t('로그인 방법:', 'logged in by')} {session.methods.map(nameOfMethod).join(', ')}
        </p>
      )}
    </div>
  );
}
