import type { TestApp } from '../support/app.ts';
import { createSettledUser, newResetLink } from './mailbox.ts';

/** What a reset mail links with. */
export interface Link {
  uid: string;
  token: string;
}

export const newPassword = 'rice-cake-at-dawn-3';

/** The operations of a password reset. */
export function passwordResetOf(app: TestApp) {
  return {
    request: (email: unknown, headers: Record<string, string> = {}) =>
      app.call('POST', '/auth/reset-password-request/', { body: { email }, headers }),
    validate: ({ url: _, ...link }: Record<string, string> | (Link & { url?: string })) =>
      app.call('GET', `/auth/reset-password-validate/?${new URLSearchParams({ ...link })}`),
    confirm: (link: Link, new_password: unknown = newPassword) =>
      app.call('POST', '/auth/reset-password-confirm/', { body: { ...link, new_password } }),
    tryLogin: (username: string, password: string) =>
      app.call('POST', '/auth/login/', { body: { username, password } }),

    /** An account, and a link in its mailbox. */
    async createUserWithLink() {
      const user = await createSettledUser(app);
      return { ...user, link: await newResetLink(app, user.email) };
    },
  };
}
