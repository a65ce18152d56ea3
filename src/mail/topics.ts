import type { MailTopic } from '../database/generated/enums.ts';

/** What mails can be switched off, each with a preference of its own. */
export const mailTopics = [
  'partner_request_received',
  'partner_request_answered',
  'partner_request_ended',
] as const satisfies readonly MailTopic[];

/** The topic of each kind of mail that can be switched off. Codes, links and notices about an account are always sent. */
const topics: ReadonlyMap<string, MailTopic> = new Map([
  ['partner_request_received', 'partner_request_received'],
  ['partner_request_accepted', 'partner_request_answered'],
  ['partner_request_declined', 'partner_request_answered'],
  ['partner_request_ended', 'partner_request_ended'],
]);

/** The topic of a kind of mail; undefined for one that cannot be switched off. */
export function topicOf(kind: string): MailTopic | undefined {
  return topics.get(kind);
}
