import { useLocation } from 'preact-iso';
import { dure } from './api.ts';
import { useToasts } from './components/toasts.tsx';
import { useAttempt } from './hooks/use-attempt.ts';
import { useLanguage } from './texts/language.tsx';

/** The identity that is connected after a login to its account; of this tab, because its user has shown it here. */
const linkKey = 'dure.link';

export const pendingLink = {
  exists: () => sessionStorage.getItem(linkKey) !== null,
  keep: (token: string) => sessionStorage.setItem(linkKey, token),
  drop: () => sessionStorage.removeItem(linkKey),
};

/** After a login: connects the login that waits for that, and goes on where the user was. */
export function useArrival(): (next: string | undefined) => Promise<void> {
  const { t } = useLanguage();
  const { show } = useToasts();
  const { route } = useLocation();
  const attempt = useAttempt();
  return async (next) => {
    const link_token = sessionStorage.getItem(linkKey);
    pendingLink.drop();
    if (link_token !== null) {
      await attempt(async () => {
        await dure.auth.addIdentity({ link_token });
        show(t.logIn.linked);
      });
    }
    route(ownPath(next), true);
  };
}

/** Only paths of this app, so that a link to the login page cannot lead to another site. */
export function ownPath(next: string | undefined): string {
  if (next === undefined) return '/';
  const url = new URL(next, location.origin);
  return url.origin === location.origin && next.startsWith('/') ? `${url.pathname}${url.search}` : '/';
}
