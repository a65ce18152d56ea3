import type { Config } from '../../infrastructure/config/config.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../../infrastructure/jobs/worker.ts';
import type { PartnerRequests } from './repository/requests.ts';

/** The status that a request is in while an email tells of it. */
const statuses = {
  partner_request_received: 'requested',
  partner_request_accepted: 'accepted',
  partner_request_declined: 'declined',
  partner_request_ended: 'ended',
} as const;

/** Composes this domain's emails when they are sent, in the language of the recipient. */
export function partnerRequestMails(config: Config, partnerRequests: PartnerRequests): MailComposers {
  /** An email about a request to the owner of one side: nothing once its status, a store or the address forbids it. */
  async function compose(kind: keyof typeof statuses, payload: MailPayload): Promise<ComposedMail | null> {
    const request = await partnerRequests.findForMail(Number(payload['request_id']), statuses[kind]);
    if (!request) return null;
    const { id, message, post, senderStore, receiverStore } = request;
    const isToSender = senderStore.ownerId === payload['user_id'];
    const [own, other] = isToSender ? [senderStore, receiverStore] : [receiverStore, senderStore];
    if (own.ownerId !== payload['user_id'] || other.suspendedAt) return null;
    // The address may have been changed and the account suspended since the email was queued.
    if (!own.owner?.isVerified || own.owner.suspendedAt) return null;
    // An answer is sent even if the post was deleted or hidden since.
    if (kind === 'partner_request_received' && !post.isVisible) return null;
    const { email, name, language } = own.owner;
    const url = `${config.frontendUrl}/requests/${id}`;
    const mail = { kind, name, storeName: other.name, postTitle: post.title, message, url };
    return { to: email, language, mail };
  }

  return {
    partner_request_received: (payload) => compose('partner_request_received', payload),
    partner_request_accepted: (payload) => compose('partner_request_accepted', payload),
    partner_request_declined: (payload) => compose('partner_request_declined', payload),
    partner_request_ended: (payload) => compose('partner_request_ended', payload),
  };
}
