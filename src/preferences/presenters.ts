import type { PreferencesRow } from './repository.ts';
import type { MailPreferences } from './schemas.ts';

/** How a user wants to get mails, as the API shows it. */
export function toMailPreferences({ language, muted_mails: muted }: PreferencesRow): MailPreferences {
  return {
    language,
    email: {
      partner_request_received: !muted.includes('partner_request_received'),
      partner_request_answered: !muted.includes('partner_request_answered'),
      partner_request_ended: !muted.includes('partner_request_ended'),
    },
  };
}
