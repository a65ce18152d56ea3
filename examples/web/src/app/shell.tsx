import { useLiveNotifications, useSession } from '@dure/react';
import { onlineManager, type Query } from '@tanstack/react-query';
import { Bell, Handshake, Search, Store, UserRound, X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { type Toast, toast, useToaster } from 'react-hot-toast/headless';
import { Link, Outlet, ScrollRestoration, useLocation } from 'react-router';
import { apiUrl, dure, queryClient } from '../api.ts';
import { m } from '../paraglide/messages.js';
import { changeLanguage, useLanguage } from '../text.ts';
import { Button, ButtonLink, useVisited } from '../ui/index.ts';
import { readAgain } from './change.ts';
import { isRemote } from './session.tsx';
import './shell.css';

export function Shell() {
  const { status } = useSession();
  const isSignedIn = status === 'signed_in';
  const { unreadCount, status: stream } = useLiveNotifications({
    onNotification: ({ message }) => toast(message),
  });
  const language = useLanguage();
  const [other, name] = language === 'ko' ? (['en', 'English'] as const) : (['ko', '한국어'] as const);
  useVisited();
  useEffect(() => {
    document.documentElement.lang = language;
    dure.setLanguage(language);
    // The texts of the service, too.
    readAgain();
  }, [language]);
  useEffect(() => {
    // What could not be read during an outage.
    const hasFailed = ({ state }: Query) => state.status === 'error';
    if (stream === 'open') void queryClient.refetchQueries({ type: 'active', predicate: hasFailed });
  }, [stream]);
  return (
    <div className={isSignedIn ? 'has-nav' : undefined}>
      <a className="skip-link" href="#content">
        {m.skip_to_the_content()}
      </a>
      <header className="top-bar">
        <div className="top-bar-inner">
          <Link className="brand" to="/" aria-label={m.dure_home()}>
            <img src="/icon.svg" alt="" width="32" height="32" />
            {m.dure()}
          </Link>
          {isSignedIn && <Navigation unread={unreadCount} />}
          {status === 'signed_out' && <ButtonLink look="plain" to="/login" label={m.log_in()} />}
          <Button look="plain language" lang={other} label={name} onClick={() => changeLanguage(other)} />
        </div>
      </header>
      <Messages />
      <Banners />
      {import.meta.env.DEV && (
        <aside className="mailbox-hint" aria-label={m.development_mailbox()}>
          {m.development_mode_codes_and_links()}{' '}
          <a href={`${apiUrl}/dev/mailbox/`} target="_blank" rel="noreferrer">
            {m.development_mailbox()}
          </a>
        </aside>
      )}
      {/* In another language, all texts of the page are new. */}
      <main key={language} id="content" tabIndex={-1}>
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
  ['/', m.browse, Search, /^\/($|posts|stores)/],
  ['/requests', m.requests, Handshake, /^\/(requests|partners)/],
  ['/notifications', m.notifications, Bell, /^\/notifications/],
  ['/store', m.my_shop, Store, /^\/store(\/|$)/],
  ['/account', m.account, UserRound, /^\/(account|sessions)/],
] as const;

function Navigation({ unread }: { unread: number }) {
  const { pathname } = useLocation();
  const unreadText = m.unread_notification({ unread });
  return (
    <>
      <nav className="nav" aria-label={m.main_menu()}>
        <ul>
          {links.map(([to, label, Drawing, paths]) => (
            <li key={to}>
              <Link to={to} aria-current={paths.test(pathname) ? 'page' : undefined}>
                <span className="nav-icon">
                  <Drawing />
                  {Drawing === Bell && unread > 0 && (
                    <span className="badge" aria-hidden="true">
                      {unread > 99 ? '99+' : unread}
                    </span>
                  )}
                </span>
                {label()}
                {Drawing === Bell && unread > 0 && <span className="visually-hidden"> ({unreadText})</span>}
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
  const show = ({ id, type, message }: Toast) => (
    <div className={`toast ${type}`} key={id}>
      <span className="clamped">{typeof message === 'string' ? message : null}</span>
      <button type="button" aria-label={m.close()} onClick={() => toast.dismiss(id)}>
        <X size={20} />
      </button>
    </div>
  );
  return (
    <div className="toasts" onPointerEnter={handlers.startPause} onPointerLeave={handlers.endPause}>
      <div role="alert">{shown.filter(({ type }) => type === 'error').map(show)}</div>
      <div role="status">{shown.filter(({ type }) => type !== 'error').map(show)}</div>
    </div>
  );
}

function Banners() {
  const { user, reason } = useSession();
  const { pathname } = useLocation();
  const isOnline = useSyncExternalStore(onlineManager.subscribe, () => onlineManager.isOnline());
  return (
    <>
      {!isOnline && (
        <p className="banner offline" role="status">
          {m.you_are_offline_it_goes()}
        </p>
      )}
      {reason && isRemote(reason) && (
        <p className="banner" role="status">
          {m.you_have_been_logged_out()}
        </p>
      )}
      {user?.is_verified === false && !/^\/(account|signup|verify-email)$/.test(pathname) && (
        <p className="banner" role="status">
          {m.your_email_address_is_not()} <Link to="/account#verify">{m.verify_now()}</Link>
        </p>
      )}
    </>
  );
}
