import type { ComposedMail, MailComposers, MailPayload } from '../mail/worker.ts';
import type { NotificationDependencies } from './dependencies.ts';

/** Composes this domain's mails when they are sent, in the language of who gets them. */
export function notificationMails({
  config,
  database: { client },
}: Pick<NotificationDependencies, 'config' | 'database'>): MailComposers {
  const url = `${config.frontendUrl}/notifications`;

  function find(payload: MailPayload) {
    const store = { select: { name: true, owner: { select: { email: true, name: true, language: true } } } };
    return client.partnerRequest.findUnique({
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
    if (!owner || request.post.deletedAt !== null) return null;
    const { email: to, language, name } = owner;
    const { senderStore, post, message } = request;
    return {
      to,
      language,
      mail: {
        kind: 'partner_request_received',
        name,
        senderStoreName: senderStore.name,
        postTitle: post.title,
        message,
        url,
      },
    };
  }

  /** An answer holds also after the post was deleted. */
  const answered =
    (kind: 'partner_request_accepted' | 'partner_request_declined') =>
    async (payload: MailPayload): Promise<ComposedMail | null> => {
      const request = await find(payload);
      const owner = request?.senderStore.owner;
      if (!owner) return null;
      const { email: to, language, name } = owner;
      const { receiverStore, post } = request;
      return {
        to,
        language,
        mail: { kind, name, receiverStoreName: receiverStore.name, postTitle: post.title, url },
      };
    };

  return {
    partner_request_received: received,
    partner_request_accepted: answered('partner_request_accepted'),
    partner_request_declined: answered('partner_request_declined'),
  };
}
