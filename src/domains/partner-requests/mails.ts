import type { Config } from '../../infrastructure/config/config.ts';
import { writeMail } from '../../infrastructure/mail/content.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import type { ComposedMail, MailComposers } from '../../infrastructure/mail/sending.ts';
import { type PartnerRequestKind, partnerRequestKinds, requestPage } from './kinds.ts';
import type { PartnerRequests } from './repository/requests.ts';

type MailedKind = Exclude<PartnerRequestKind, 'partner_request_withdrawn'>;

/** Composes this domain's emails when they are sent, in the language of the recipient. */
export function partnerRequestMails(
  config: Config,
  partnerRequests: PartnerRequests,
): MailComposers<MailedKind> {
  /** An email about a request to the owner of one side: nothing once its status, a store or the address forbids it. */
  async function compose(name: MailedKind, payload: MailPayload): Promise<ComposedMail | null> {
    const kind = partnerRequestKinds[name];
    const request = await partnerRequests.findForMail(Number(payload['request_id']), kind.status);
    if (!request) return null;
    const { id, message, post, senderStore, receiverStore } = request;
    const isToSender = senderStore.ownerId === payload['user_id'];
    const [own, other] = isToSender ? [senderStore, receiverStore] : [receiverStore, senderStore];
    if (own.ownerId !== payload['user_id'] || other.suspendedAt) return null;
    // The address may have been changed and the account suspended since the email was queued.
    if (!own.owner?.isVerified || own.owner.suspendedAt) return null;
    // An answer is sent even if the post was deleted or hidden since.
    if (name === 'partner_request_received' && !post.isVisible) return null;
    const { email, name: recipient, language } = own.owner;
    const url = `${config.frontendUrl}/${requestPage(id)}`;
    const fields = { name: recipient, storeName: other.name, postTitle: post.title, message, url };
    return { to: email, mail: writeMail(kind, language, fields) };
  }

  return {
    partner_request_received: (payload) => compose('partner_request_received', payload),
    partner_request_accepted: (payload) => compose('partner_request_accepted', payload),
    partner_request_declined: (payload) => compose('partner_request_declined', payload),
    partner_request_ended: (payload) => compose('partner_request_ended', payload),
  };
}
