import type { Config } from '../config/config.ts';
import type { Database } from '../database/client.ts';
import type { Language, PartnerRequestStatus } from '../database/generated/enums.ts';
import { raw, type Sql, sql } from '../database/sql.ts';
import type { ComposedMail, MailComposers, MailPayload } from '../mail/worker.ts';

interface Owner {
  id: number;
  name: string;
  email: string;
  language: Language;
  is_verified: boolean;
  is_suspended: boolean;
}

/** What the mails about a request need. An owner is null after the deletion of the account. */
interface MailedRequest {
  /** The page of the request in the frontend. */
  url: string;
  message: string;
  post_title: string;
  is_post_deleted: boolean;
  /** By the suspension of its owner, or because of a report. */
  is_sender_hidden: boolean;
  is_receiver_hidden: boolean;
  sender_store_name: string;
  sender: Owner | null;
  receiver_store_name: string;
  receiver: Owner | null;
}

/** An owner as JSON; null without an account. */
function ownerSql(user: 'sender' | 'receiver'): Sql {
  return raw(`CASE WHEN ${user}.id IS NOT NULL THEN json_build_object(
    'id', ${user}.id, 'name', ${user}.name, 'email', ${user}.email, 'language', ${user}.language,
    'is_verified', ${user}.is_verified, 'is_suspended', ${user}.suspended_at IS NOT NULL) END`);
}

/** Composes this domain's mails when they are sent, in the language of the recipient. */
export function partnerRequestMails(options: { config: Config; database: Database }): MailComposers {
  const { config, database } = options;

  /** @returns undefined when the request is no longer in the status that the mail tells of */
  async function find(
    payload: MailPayload,
    status: PartnerRequestStatus,
  ): Promise<MailedRequest | undefined> {
    const [request] = await database.query<Omit<MailedRequest, 'url'> & { id: number }>(sql`
      SELECT r.id, r.message, p.title AS post_title, p.deleted_at IS NOT NULL AS is_post_deleted,
        s.suspended_at IS NOT NULL AS is_sender_hidden, v.suspended_at IS NOT NULL AS is_receiver_hidden,
        s.name AS sender_store_name, ${ownerSql('sender')} AS sender,
        v.name AS receiver_store_name, ${ownerSql('receiver')} AS receiver
      FROM partner_requests r
      JOIN posts p ON p.id = r.post_id
      JOIN stores s ON s.id = r.sender_store_id
      JOIN stores v ON v.id = r.receiver_store_id
      LEFT JOIN users sender ON sender.id = s.owner_id
      LEFT JOIN users receiver ON receiver.id = v.owner_id
      WHERE r.id = ${Number(payload['request_id'])} AND r.status = ${status}::partner_request_status`);
    return request && { ...request, url: `${config.frontendUrl}/requests/${request.id}` };
  }

  async function received(payload: MailPayload): Promise<ComposedMail | null> {
    const request = await find(payload, 'requested');
    const owner = request?.receiver;
    if (!owner || !mayGetMail(owner) || request.is_post_deleted || request.is_sender_hidden) return null;
    return {
      to: owner.email,
      language: owner.language,
      mail: {
        kind: 'partner_request_received',
        name: owner.name,
        senderStoreName: request.sender_store_name,
        postTitle: request.post_title,
        message: request.message,
        url: request.url,
      },
    };
  }

  /** An answer is mailed even if the post was deleted since. */
  const answered =
    (status: 'accepted' | 'declined') =>
    async (payload: MailPayload): Promise<ComposedMail | null> => {
      const request = await find(payload, status);
      const owner = request?.sender;
      if (!owner || !mayGetMail(owner) || request.is_receiver_hidden) return null;
      const { receiver_store_name: receiverStoreName, post_title: postTitle, url } = request;
      const kind = `partner_request_${status}` as const;
      const names = { name: owner.name, receiverStoreName, postTitle };
      return { to: owner.email, language: owner.language, mail: { kind, ...names, url } };
    };

  /** To the side that did not end it; the account of the other one may be gone. */
  async function ended(payload: MailPayload): Promise<ComposedMail | null> {
    const request = await find(payload, 'ended');
    const isSender = request?.sender?.id === payload['user_id'];
    const owner = isSender ? request?.sender : request?.receiver;
    if (!request || !owner || owner.id !== payload['user_id'] || !mayGetMail(owner)) return null;
    if (isSender ? request.is_receiver_hidden : request.is_sender_hidden) return null;
    const otherStoreName = isSender ? request.receiver_store_name : request.sender_store_name;
    const { post_title: postTitle, url } = request;
    const mail = { kind: 'partner_request_ended', name: owner.name, otherStoreName, postTitle, url } as const;
    return { to: owner.email, language: owner.language, mail };
  }

  return {
    partner_request_received: received,
    partner_request_accepted: answered('accepted'),
    partner_request_declined: answered('declined'),
    partner_request_ended: ended,
  };
}

/** The address may have been changed and the account suspended since the mail was queued. */
function mayGetMail(owner: Owner): boolean {
  return owner.is_verified && !owner.is_suspended;
}
