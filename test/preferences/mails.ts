import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import type { TestApp } from '../support/app.ts';

export const preferencesPath = '/api/v1/notifications/preferences/';

/** What every user gets at first. */
export const everyMail = {
  partner_request_received: true,
  partner_request_answered: true,
  partner_request_ended: true,
};

/** The link in the header of an email with which its recipient switches such mails off; its path and query. */
export function unsubscribePathIn({ headers }: OutgoingMail): string {
  const url = /^<https:\/\/api\.example\.com(\/\S+)>$/.exec(headers?.['List-Unsubscribe'] ?? '')?.[1];
  if (url === undefined) throw new Error('the mail has no link');
  return url;
}

/** The preferences of a user. */
export async function preferencesOf(app: TestApp, { token }: { token: string }) {
  const answer = await app.call('GET', preferencesPath, { token });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.data;
}
