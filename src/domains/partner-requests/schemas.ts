import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page, PageQuery } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Block } from '../../http/text.ts';
import { type InJson, toUtc } from '../../infrastructure/times.ts';
import type { ImageUrls } from '../images/index.ts';
import { PartnerRequestStatus, PostSummary, partnerRequestStatuses, toPostSummary } from '../posts/index.ts';
import { PhoneNumber, StoreSummary } from '../stores/index.ts';
import type { PartnerRow, RequestDetailRow, RequestRow, SentRequestRow } from './repository/requests.ts';

export const partnerRequestErrors = {
  partnerRequestNotFound: defineError(404, 'partner_request_not_found', {
    ko: '해당 제휴 요청을 찾을 수 없습니다.',
    en: 'The partnership request was not found.',
  }),
  ownPost: defineError(409, 'own_post', {
    ko: '직접 쓴 글에는 제휴를 요청할 수 없습니다.',
    en: 'You cannot send a partnership request for your own post.',
  }),
  postClosed: defineError(409, 'post_closed', {
    ko: '마감된 글에는 제휴를 요청할 수 없습니다.',
    en: 'This post is closed and takes no more partnership requests.',
  }),
  alreadyRequested: defineError(409, 'already_requested', {
    ko: '이 글에 이미 제휴를 요청하셨습니다.',
    en: 'You have already sent a partnership request for this post.',
  }),
  invalidTransition: defineError(409, 'invalid_transition', {
    ko: '제휴 요청의 현재 상태에서는 할 수 없습니다.',
    en: 'The current state of the partnership request does not allow this.',
  }),
};

/** Fields of a request, in every object that shows one. */
export const requestFields = {
  id: t.BigId('Identifier of the request'),
  post_id: t.BigId('The post that the request answers'),
  post_title: t.Text('Its title', 100),
  status: t.Ref(PartnerRequestStatus),
  sender_store_id: t.Id('The store that sent the request'),
  sender_store_name: t.Text('Its name', 50),
  receiver_store_id: t.Id('The store that wrote the post'),
  receiver_store_name: t.Text('Its name', 50),
  message: t.Text('What the sender wrote', 1000),
};

export const NewPartnerRequest = t.Body('NewPartnerRequest', 'A request to send', {
  post_id: t.BigId('The post to answer; it must belong to another store'),
  message: Block('What to tell the other store; may contain line feeds', 1000),
});
export type NewPartnerRequest = Static<typeof NewPartnerRequest>;

const { id, post_id, post_title, status, message } = requestFields;

/** A request as one side sees it, with the store of the other side. */
const requestIn = <const Box extends string, OtherStore extends TProperties>(
  box: Box,
  otherStore: OtherStore,
) => ({
  box: t.StringEnum([box], { description: 'Whether the user sent or received the request' }),
  id,
  post_id,
  post_title,
  ...otherStore,
  status,
  message,
  created_at: t.Timestamp('When it was sent'),
  updated_at: t.Timestamp('When its status last changed'),
});

const { receiver_store_id, receiver_store_name } = requestFields;
const sentRequestFields = requestIn('sent', { receiver_store_id, receiver_store_name });
const receivedRequestFields = requestIn('received', { sender_store: t.Ref(StoreSummary) });

export const PartnerRequest = t.NamedObject(
  'PartnerRequest',
  'A partnership request as its sender sees it',
  sentRequestFields,
);
export type PartnerRequest = Static<typeof PartnerRequest>;

export const ReceivedPartnerRequest = t.NamedObject(
  'ReceivedPartnerRequest',
  'A partnership request as its receiver sees it',
  receivedRequestFields,
);
export type ReceivedPartnerRequest = Static<typeof ReceivedPartnerRequest>;

export const AnyPartnerRequest = t.OneOf(
  'AnyPartnerRequest',
  'A request as the user sees it; `box` tells which of the two it is',
  [PartnerRequest, ReceivedPartnerRequest],
);
export const PartnerRequestPage = Page('PartnerRequestPage', t.Ref(AnyPartnerRequest));

export const PartnerRequestQuery = Type.Object({
  box: t.StringEnum(['sent', 'received'], {
    default: 'received',
    description: 'Requests that the user sent or received',
  }),
  status: Type.Optional(t.Ref(PartnerRequestStatus, { description: 'Only requests in this state' })),
  ...PageQuery,
});

/** How to reach a partner. Only the two sides of an accepted request see it. */
const Contact = t.NamedObject('Contact', 'How to reach the other store of an accepted request', {
  name: t.Text('The name of the owner', 50),
  email: t.Email('The email address of the owner'),
  phone_number: PhoneNumber('The phone number of the store; empty when it has none'),
});
export type Contact = Static<typeof Contact>;

const detailFields = {
  post: t.RefOrNull(
    PostSummary,
    'The post that the request answers; `null` once it was deleted or is hidden',
  ),
  sender_store: t.Ref(StoreSummary),
  receiver_store: t.Ref(StoreSummary),
  contact: t.RefOrNull(
    Contact,
    'How to reach the other store; `null` unless the request is `수락됨` (accepted) and the account of the other store is active',
  ),
};

const detail = <T extends TProperties>($id: string, side: string, request: T) => {
  const description = `A partnership request with its post, both stores and the contact, as its ${side} sees it`;
  return t.NamedObject($id, description, { ...request, ...detailFields });
};
const SentPartnerRequestDetail = detail('SentPartnerRequestDetail', 'sender', sentRequestFields);
const ReceivedPartnerRequestDetail = detail(
  'ReceivedPartnerRequestDetail',
  'receiver',
  receivedRequestFields,
);

export const PartnerRequestDetail = t.OneOf(
  'PartnerRequestDetail',
  'A request with all that the user sees of it; `box` tells which of the two it is',
  [SentPartnerRequestDetail, ReceivedPartnerRequestDetail],
);
export type PartnerRequestDetail = Static<typeof PartnerRequestDetail>;

export const Partner = t.NamedObject('Partner', 'A store with which a partnership request is accepted', {
  store: t.Ref(StoreSummary),
  contact: t.Ref(Contact),
  request_id: t.BigId('The accepted request; the newest one where there are several'),
  since: t.Timestamp('When that request was accepted'),
});

export const PartnerPage = Page('PartnerPage', t.Ref(Partner));
export const PartnerQuery = Type.Object(PageQuery);

/** A request as the API shows it to one of its sides. */
export function toPartnerRequest(row: SentRequestRow | InJson<SentRequestRow>): PartnerRequest;
export function toPartnerRequest(row: RequestRow): PartnerRequest | ReceivedPartnerRequest;
export function toPartnerRequest(request: RequestRow | InJson<SentRequestRow>) {
  const { status, createdAt, updatedAt, ...row } = request;
  const times = { created_at: toUtc(createdAt), updated_at: toUtc(updatedAt) };
  return { ...row, status: partnerRequestStatuses[status], ...times };
}

/** A request with all that the API shows of it to one of its sides. */
export function toPartnerRequestDetail(row: RequestDetailRow, imageUrls: ImageUrls): PartnerRequestDetail {
  const { sender_store, receiver_store, contact } = row;
  const post = row.post && toPostSummary(row.post, receiver_store, imageUrls);
  return { ...toPartnerRequest(row), post, sender_store, receiver_store, contact };
}

export function toPartner({ id, createdAt, store, contact }: PartnerRow) {
  return { store, contact, request_id: id, since: createdAt.toISOString() };
}
