import type { Config } from '../config/config.ts';
import type { Database } from '../database/client.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../mail/worker.ts';

/** Composes this domain's mails when they are sent, in the language of the recipient. */
export function partnerRequestMails(options: { config: Config; database: Database }): MailComposers {
  const { config, database } = options;
  const url = `${config.frontendUrl}/notifications`;

  function find(payload: MailPayload) {
    const owner = { email: true, name: true, language: true, isVerified: true, suspendedAt: true };
    const store = { select: { name: true, owner: { select: owner } } };
    return database.prisma.partnerRequest.findUnique({
      where: { id: Number(payload['request_id']) },
      select: {
        message: true,
        post: { select: { title: true, deletedAt: true } },
        senderStore: store,
        receiverStore: store,
      },
    });
  }

  async function received(payload: MailPayload): Promise<ComposedMail | null> {
    const request = await find(payload);
    const owner = request?.receiverStore.owner;
    if (!owner || !mayGetMail(owner) || request.post.deletedAt !== null) return null;
    const { senderStore, post, message } = request;
    if (isSuspended(senderStore.owner)) return null;
    return {
      to: owner.email,
      language: owner.language,
      mail: {
        kind: 'partner_request_received',
        name: owner.name,
        senderStoreName: senderStore.name,
        postTitle: post.title,
        message,
        url,
      },
    };
  }

  /** An answer is mailed even if the post was deleted since. */
  const answered =
    (kind: 'partner_request_accepted' | 'partner_request_declined') =>
    async (payload: MailPayload): Promise<ComposedMail | null> => {
      const request = await find(payload);
      const owner = request?.senderStore.owner;
      if (!owner || !mayGetMail(owner)) return null;
      const { receiverStore, post } = request;
      const names = { name: owner.name, receiverStoreName: receiverStore.name, postTitle: post.title };
      return { to: owner.email, language: owner.language, mail: { kind, ...names, url } };
    };

  return {
    partner_request_received: received,
    partner_request_accepted: answered('partner_request_accepted'),
    partner_request_declined: answered('partner_request_declined'),
  };
}

interface Owner {
  isVerified: boolean;
  suspendedAt: Date | null;
}

/** The address may have been changed and the account suspended since the mail was queued. */
function mayGetMail(owner: Owner): boolean {
  return owner.isVerified && !isSuspended(owner);
}

/** A deleted account is not suspended. */
function isSuspended(owner: Owner | null): boolean {
  return owner !== null && owner.suspendedAt !== null;
}
