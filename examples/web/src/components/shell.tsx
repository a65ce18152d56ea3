import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { apiUrl } from '../api.ts';
import { useUnread } from '../live.tsx';
import { useSession } from '../session.tsx';
import { useLanguage } from '../texts/language.tsx';
import { AccountIcon, BellIcon, Logo, RequestsIcon, SearchIcon, StoreIcon } from './icons.tsx';

/** What surrounds every view: brand, navigation, language, footer. */
export function Shell({ children }: { children: ComponentChildren }) {
  const { t } = useLanguage();
  const { session } = useSession();
  const isSignedIn = session.status === 'signedIn';
  return (
    <div class={isSignedIn ? 'has-nav' : undefined}>
      <a class="skip-link" href="#content">
        {t.nav.skip}
      </a>
      <header class="top-bar">
        <div class="top-bar-inner">
          <a class="brand" href="/" aria-label={t.nav.home}>
            <Logo />
            {t.brand}
          </a>
          {isSignedIn && <Navigation />}
          {session.status === 'signedOut' && (
            <a class="button plain" href="/login">
              {t.nav.logIn}
            </a>
          )}
          <LanguageSwitch />
        </div>
      </header>
      {import.meta.env.DEV && <MailboxHint />}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function Navigation() {
  const { t } = useLanguage();
  const { path } = useLocation();
  const { unread } = useUnread();
  const links = [
    {
      href: '/',
      label: t.nav.feed,
      icon: <SearchIcon />,
      isCurrent: path === '/' || /^\/(posts|stores)(\/|$)/.test(path),
    },
    {
      href: '/requests',
      label: t.nav.requests,
      icon: <RequestsIcon />,
      isCurrent: /^\/(requests|partners)(\/|$)/.test(path),
    },
    {
      href: '/notifications',
      label: t.nav.notifications,
      icon: <BellIcon />,
      isCurrent: path === '/notifications',
    },
    { href: '/store', label: t.nav.store, icon: <StoreIcon />, isCurrent: /^\/store(\/|$)/.test(path) },
    {
      href: '/account',
      label: t.nav.account,
      icon: <AccountIcon />,
      isCurrent: /^\/(account|sessions)/.test(path),
    },
  ];
  return (
    <>
      <nav class="nav" aria-label={t.nav.label}>
        <ul>
          {links.map(({ href, label, icon, isCurrent }) => (
            <li key={href}>
              <a href={href} aria-current={isCurrent ? 'page' : undefined}>
                <span class="nav-icon">
                  {icon}
                  {href === '/notifications' && unread > 0 && <Badge count={unread} />}
                </span>
                {label}
                {href === '/notifications' && unread > 0 && (
                  <span class="visually-hidden"> ({t.nav.unread(unread)})</span>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <span class="visually-hidden" role="status">
        {unread > 0 && t.nav.unread(unread)}
      </span>
    </>
  );
}

function Badge({ count }: { count: number }) {
  return (
    <span class="badge" aria-hidden="true">
      {count > 99 ? '99+' : count}
    </span>
  );
}

function LanguageSwitch() {
  const { language, setLanguage } = useLanguage();
  const other =
    language === 'ko'
      ? { language: 'en' as const, name: 'English' }
      : { language: 'ko' as const, name: '한국어' };
  return (
    <button
      type="button"
      class="button plain language"
      lang={other.language}
      onClick={() => setLanguage(other.language)}
    >
      {other.name}
    </button>
  );
}

/** In development, the service shows emails instead of sending them. */
function MailboxHint() {
  const { t } = useLanguage();
  return (
    <aside class="mailbox-hint" aria-label={t.mailbox.link}>
      {t.mailbox.text}{' '}
      <a href={`${apiUrl}/dev/mailbox/`} target="_blank" rel="noreferrer">
        {t.mailbox.link}
      </a>
    </aside>
  );
}
