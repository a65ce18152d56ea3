import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { BoundedPageOf, Page, PageQuery } from '../../http/pagination.ts';
import {
  BigId,
  Body,
  Int32,
  Int64,
  NamedObject,
  Ref,
  RefOrNull,
  StringEnum,
  Timestamp,
} from '../../http/schemas.ts';
import { TextField } from '../../http/text.ts';
import { PartnerRequestStatus, PostSummary } from '../posts/index.ts';
import { StoreSummary } from '../stores/index.ts';

const exampleMessage = '저희 빵을 카페에서 함께 팔아 보시겠어요?';

/** Fields of a request, in every object that shows one. */
export const requestFields = {
  id: Int64({ description: 'Identifier of the request', examples: [1] }),
  post_id: Int64({ description: 'The post that the request answers', examples: [1] }),
  post_title: Type.String({ description: 'Its title', examples: ['주말 공동 할인 함께하실 가게를 찾아요'] }),
  status: Ref(PartnerRequestStatus),
  sender_store_id: Int32({ description: 'The store that sent the request', examples: [2] }),
  sender_store_name: Type.String({ description: 'Its name', examples: ['두레 베이커리'] }),
  receiver_store_id: Int32({ description: 'The store that wrote the post', examples: [1] }),
  receiver_store_name: Type.String({ description: 'Its name', examples: ['햇살카페'] }),
  message: Type.String({
    description:
      'What the sender wrote. Empty once it was erased, a year after the request was declined, withdrawn or ended',
    examples: [exampleMessage],
  }),
};

export const NewPartnerRequest = Body('NewPartnerRequest', 'A request to send', {
  post_id: BigId('The post to answer; it must belong to another store'),
  message: TextField('block', {
    minLength: 1,
    maxLength: 1000,
    description: 'What to tell the other store; may contain line feeds',
    examples: [exampleMessage],
  }),
});
export type NewPartnerRequest = Static<typeof NewPartnerRequest>;

const { id, post_id, post_title, status, message } = requestFields;

/** A request as one side sees it, with the store of the other side. */
const requestIn = <const Box extends string, OtherStore extends TProperties>(
  box: Box,
  otherStore: OtherStore,
) => ({
  box: StringEnum([box], { description: 'Whether the user sent or received the request' }),
  id,
  post_id,
  post_title,
  ...otherStore,
  status,
  message,
  created_at: Timestamp('When it was sent'),
  updated_at: Timestamp('When its status last changed'),
});

const { receiver_store_id, receiver_store_name } = requestFields;
const sentRequestFields = requestIn('sent', { receiver_store_id, receiver_store_name });
const receivedRequestFields = requestIn('received', { sender_store: Ref(StoreSummary) });

export const PartnerRequest = NamedObject(
  'PartnerRequest',
  'A partnership request as its sender sees it',
  sentRequestFields,
);
export type PartnerRequest = Static<typeof PartnerRequest>;

export const ReceivedPartnerRequest = NamedObject(
  'ReceivedPartnerRequest',
  'A partnership request as its receiver sees it',
  receivedRequestFields,
);
export type ReceivedPartnerRequest = Static<typeof ReceivedPartnerRequest>;

export const AnyPartnerRequest = Type.Unsafe<PartnerRequest | ReceivedPartnerRequest>({
  $id: 'AnyPartnerRequest',
  description: 'A request as the user sees it; `box` tells which of the two it is',
  oneOf: [Ref(PartnerRequest), Ref(ReceivedPartnerRequest)],
});
export const PartnerRequestPage = Page('PartnerRequestPage', Ref(AnyPartnerRequest));

export const PartnerRequestQuery = Type.Object({
  box: StringEnum(['sent', 'received'], {
    default: 'received',
    description: 'Requests that the user sent or received',
  }),
  status: Type.Optional(Ref(PartnerRequestStatus, { description: 'Only requests in this state' })),
  ...PageQuery,
});

/** How to reach a partner. Only the two sides of an accepted request see it. */
const Contact = NamedObject('Contact', 'How to reach the other store of an accepted request', {
  name: Type.String({ description: 'The name of the owner', examples: ['김두레'] }),
  email: Type.String({
    format: 'email',
    description: 'The email address of the owner',
    examples: ['dure@example.com'],
  }),
  phone_number: Type.String({
    description: 'The phone number of the store; empty when it has none',
    examples: ['02-123-4567'],
  }),
});
export type Contact = Static<typeof Contact>;

const detailFields = {
  post: RefOrNull(PostSummary, 'The post that the request answers; `null` once it was deleted or is hidden'),
  sender_store: Ref(StoreSummary),
  receiver_store: Ref(StoreSummary),
  contact: RefOrNull(
    Contact,
    'How to reach the other store; `null` unless the request is `수락됨` (accepted) and the account of the other store is active',
  ),
};

const detailDescription = 'A partnership request with its post, both stores and the contact, as its';
const SentPartnerRequestDetail = NamedObject(
  'SentPartnerRequestDetail',
  `${detailDescription} sender sees it`,
  { ...sentRequestFields, ...detailFields },
);
const ReceivedPartnerRequestDetail = NamedObject(
  'ReceivedPartnerRequestDetail',
  `${detailDescription} receiver sees it`,
  { ...receivedRequestFields, ...detailFields },
);

export const PartnerRequestDetail = Type.Unsafe<
  Static<typeof SentPartnerRequestDetail> | Static<typeof ReceivedPartnerRequestDetail>
>({
  $id: 'PartnerRequestDetail',
  description: 'A request with all that the user sees of it; `box` tells which of the two it is',
  oneOf: [Ref(SentPartnerRequestDetail), Ref(ReceivedPartnerRequestDetail)],
});
export type PartnerRequestDetail = Static<typeof PartnerRequestDetail>;

export const Partner = NamedObject('Partner', 'A store with which a partnership request is accepted', {
  store: Ref(StoreSummary),
  contact: Ref(Contact),
  request_id: Int64({
    description: 'The accepted request; the newest one where there are several',
    examples: [1],
  }),
  since: Timestamp('When that request was accepted'),
});
export type Partner = Static<typeof Partner>;

export const PartnerPage = BoundedPageOf('PartnerPage', Ref(Partner));
export const PartnerQuery = Type.Object(PageQuery);
