import type { AuthChange } from '@dure/client';
import { useLiveNotifications, useSession } from '@dure/react';
import { onlineManager, type Query } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { type Toast, toast, useToaster } from 'react-hot-toast/headless';
import { Link, Outlet, ScrollRestoration, useLocation } from 'react-router';
import { apiUrl, dure, pushEndedKey, queryClient } from '../api.ts';
import { changeLanguage, language, t } from '../text.ts';
import { forgetDraftsOfOthers } from '../ui/draft.ts';
import { Button, ButtonLink, Icon } from '../ui/index.ts';
import { useVisited } from './history.ts';
import { isRemote } from './session.tsx';

async function endPush(): Promise<void> {
  if ((await dure.push.status()) !== 'on') return;
  // The page of the alerts says so.
  localStorage.setItem(pushEndedKey, 'yes');
  await dure.push.unsubscribe();
}

/** What was typed stays for the account whose session has expired, and for no other one. */
function forgetDrafts({ userId, reason }: AuthChange): void {
  const hasLeft = reason === 'logged_out' || reason === 'account_deleted' || reason === 'elsewhere';
  if (userId !== null || hasLeft) forgetDraftsOfOthers(userId);
}

/** What surrounds every view: brand, navigation, language, short messages. */
export function Shell() {
  const { status, reason } = useSession();
  const isSignedIn = status === 'signed_in';
  const { unreadCount, status: stream } = useLiveNotifications({
    onNotification: ({ message }) => toast(message),
  });
  const [other, name] = language === 'ko' ? (['en', 'English'] as const) : (['ko', '한국어'] as const);
  useVisited();
  useEffect(() => dure.onAuthChange(forgetDrafts), []);
  useEffect(() => {
    // What could not be read during an outage.
    const hasFailed = ({ state }: Query) => state.status === 'error';
    if (stream === 'open') void queryClient.refetchQueries({ type: 'active', predicate: hasFailed });
  }, [stream]);
  useEffect(() => {
    // Push messages are for the account that is signed in.
    if (reason) endPush().catch(() => undefined);
  }, [reason]);
  return (
    <div className={isSignedIn ? 'has-nav' : undefined}>
      <a className="skip-link" href="#content">
        {t('본문으로 건너뛰기', 'Skip to the content')}
      </a>
      <header className="top-bar">
        <div className="top-bar-inner">
          <Link className="brand" to="/" aria-label={t('두레 첫 화면', 'Dure, home')}>
            <img src="/icon.svg" alt="" width="32" height="32" />
            {t('두레', 'Dure')}
          </Link>
          {isSignedIn && <Navigation unread={unreadCount} />}
          {status === 'signed_out' && <ButtonLink look="plain" to="/login" label={t('로그인', 'Log in')} />}
          <Button look="plain language" lang={other} label={name} onClick={() => changeLanguage(other)} />
        </div>
      </header>
      <Messages />
      <Banners />
      {import.meta.env.DEV && <MailboxHint />}
      <main id="content" tabIndex={-1}>
        <Outlet />
        {/* Preact commits components by their depth: one level down, it scrolls after the page is shown. */}
        <div>
          <ScrollRestoration />
        </div>
      </main>
    </div>
  );
}

/** Path, label, icon, and the paths that belong to it. */
const links = [
  ['/', t('둘러보기', 'Browse'), 'search', /^\/($|posts|stores)/],
  ['/requests', t('제휴 요청', 'Requests'), 'requests', /^\/(requests|partners)/],
  ['/notifications', t('알림', 'Notifications'), 'bell', /^\/notifications/],
  ['/store', t('내 가게', 'My shop'), 'store', /^\/store(\/|$)/],
  ['/account', t('계정', 'Account'), 'account', /^\/(account|sessions)/],
] as const;

function Navigation({ unread }: { unread: number }) {
  const { pathname } = useLocation();
  const unreadText = t(
    `읽지 않은 알림 ${unread}개`,
    `${unread} unread notification${unread === 1 ? '' : 's'}`,
  );
  return (
    <>
      <nav className="nav" aria-label={t('주 메뉴', 'Main menu')}>
        <ul>
          {links.map(([to, label, icon, paths]) => (
            <li key={to}>
              <Link to={to} aria-current={paths.test(pathname) ? 'page' : undefined}>
                <span className="nav-icon">
                  <Icon name={icon} />
                  {icon === 'bell' && unread > 0 && (
                    <span className="badge" aria-hidden="true">
                      {unread > 99 ? '99+' : unread}
                    </span>
                  )}
                </span>
                {label}
                {icon === 'bell' && unread > 0 && <span className="visually-hidden"> ({unreadText})</span>}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <span className="visually-hidden" role="status">
        {unread > 0 && unreadText}
      </span>
    </>
  );
}

/** Short messages float above the page and move nothing. Errors stay until they are closed. */
function Messages() {
  const { toasts, handlers } = useToaster({ duration: 6_000 });
  const shown = toasts.filter(({ visible }) => visible);
  const [errors, others] = [true, false].map((isError) =>
    shown
      .filter(({ type }) => (type === 'error') === isError)
      .map((toast) => <Message key={toast.id} {...toast} />),
  );
  return (
    <div className="toasts" onPointerEnter={handlers.startPause} onPointerLeave={handlers.endPause}>
      <div role="alert">{errors}</div>
      <div role="status">{others}</div>
    </div>
  );
}

function Message({ id, type, message }: Toast) {
  return (
    <div className={`toast ${type}`}>
      <span className="clamped">{typeof message === 'string' ? message : null}</span>
      <button type="button" aria-label={t('알림 닫기', 'Close')} onClick={() => toast.dismiss(id)}>
        <Icon name="close" size={20} />
      </button>
    </div>
  );
}

/** What the user should know on every page. */
function Banners() {
  const { user, reason } = useSession();
  const { pathname } = useLocation();
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline());
  return (
    <>
      {!isOnline && (
        <p className="banner offline" role="status">
          {t(
            '인터넷에 연결되어 있지 않습니다. 연결되면 이어서 진행합니다.',
            'You are offline. It goes on when you are online again.',
          )}
        </p>
      )}
      {reason && isRemote(reason) && (
        <p className="banner" role="status">
          {t('로그아웃되었습니다. 다시 로그인해 주세요.', 'You have been logged out. Please log in again.')}
        </p>
      )}
      {user?.is_verified === false && !/^\/(account|signup|verify-email)$/.test(pathname) && (
        <p className="banner" role="status">
          {t('이메일 주소를 아직 확인하지 않았습니다.', 'Your email address is not verified yet.')}{' '}
          <Link to="/account#verify">{t('지금 인증하기', 'Verify now')}</Link>
        </p>
      )}
    </>
  );
}

/** In development, the service shows emails instead of sending them. */
function MailboxHint() {
  return (
    <aside className="mailbox-hint" aria-label={t('개발용 메일함', 'Development mailbox')}>
      {t(
        '개발 모드입니다. 인증번호와 링크는 메일로 발송되지 않고 메일함에 표시됩니다:',
        'Development mode: codes and links are not mailed but shown in the mailbox:',
      )}{' '}
      <a href={`${apiUrl}/dev/mailbox/`} target="_blank" rel="noreferrer">
        {t('개발용 메일함', 'Development mailbox')}
      </a>
    </aside>
  );
}
