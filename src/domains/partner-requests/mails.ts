import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Language, PartnerRequestStatus } from '../../infrastructure/database/generated/enums.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../../infrastructure/mail/worker.ts';

interface Owner {
  email: string;
  name: string;
  language: Language;
  isVerified: boolean;
  suspendedAt: Date | null;
}

/** A store without an owner is one whose account was deleted; a suspended one is hidden, also because of a report. */
const storeColumns = {
  name: true,
  suspendedAt: true,
  ownerId: true,
  owner: { select: { email: true, name: true, language: true, isVerified: true, suspendedAt: true } },
} as const;

/** Composes this domain's emails when they are sent, in the language of the recipient. */
export function partnerRequestMails(config: Config, { prisma }: Database): MailComposers {
  /** @returns null when the request is no longer in the status that the email tells of */
  const find = (payload: MailPayload, status: PartnerRequestStatus) =>
    prisma.partnerRequest.findFirst({
      where: { id: Number(payload['request_id']), status },
      select: {
        id: true,
        message: true,
        post: { select: { title: true, deletedAt: true } },
        senderStore: { select: storeColumns },
        receiverStore: { select: storeColumns },
      },
    });

  /** What every email about a request shows. */
  const contentOf = ({ id, post }: { id: number; post: { title: string } }, { name }: Owner) => ({
    name,
    postTitle: post.title,
    url: `${config.frontendUrl}/requests/${id}`,
  });

  async function received(payload: MailPayload): Promise<ComposedMail | null> {
    const request = await find(payload, 'requested');
    if (!request || request.post.deletedAt || request.senderStore.suspendedAt) return null;
    const { senderStore, receiverStore, message } = request;
    if (!canReceiveEmail(receiverStore.owner)) return null;
    const content = {
      ...contentOf(request, receiverStore.owner),
      senderStoreName: senderStore.name,
      message,
    };
    return compose(receiverStore.owner, { kind: 'partner_request_received', ...content });
  }

  /** Sent even if the post was deleted since. */
  const answered =
    (status: 'accepted' | 'declined') =>
    async (payload: MailPayload): Promise<ComposedMail | null> => {
      const request = await find(payload, status);
      if (!request || request.receiverStore.suspendedAt) return null;
      const { senderStore, receiverStore } = request;
      if (!canReceiveEmail(senderStore.owner)) return null;
      const content = { ...contentOf(request, senderStore.owner), receiverStoreName: receiverStore.name };
      return compose(senderStore.owner, { kind: `partner_request_${status}`, ...content });
    };

  /** To the side that did not end it; the account of the other one may be gone. */
  async function ended(payload: MailPayload): Promise<ComposedMail | null> {
    const request = await find(payload, 'ended');
    if (!request) return null;
    const { senderStore, receiverStore } = request;
    const isSender = senderStore.ownerId === payload['user_id'];
    const [own, other] = isSender ? [senderStore, receiverStore] : [receiverStore, senderStore];
    if (own.ownerId !== payload['user_id'] || other.suspendedAt || !canReceiveEmail(own.owner)) return null;
    const content = { ...contentOf(request, own.owner), otherStoreName: other.name };
    return compose(own.owner, { kind: 'partner_request_ended', ...content });
  }

  return {
    partner_request_received: received,
    partner_request_accepted: answered('accepted'),
    partner_request_declined: answered('declined'),
    partner_request_ended: ended,
  };
}

/** The address may have been changed and the account suspended since the email was queued. */
function canReceiveEmail(owner: Owner | null): owner is Owner {
  return owner?.isVerified === true && owner.suspendedAt === null;
}

function compose({ email, language }: Owner, mail: ComposedMail['mail']): ComposedMail {
  return { to: email, language, mail };
}
