import { type Static, Type } from '@sinclair/typebox';
import { PartnerRequestStatus as PartnerRequestState } from '../database/generated/enums.ts';
import { Page, PageQuery } from '../http/pagination.ts';
import { Id, Int32, NamedEnum, Ref, StringEnum, Timestamp } from '../http/schemas.ts';
import { TextField } from '../http/text.ts';
import { StoreSummary } from '../stores/schemas.ts';

/** The status that the API shows for each state in the database. */
export const partnerRequestStatuses = {
  requested: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
  ended: '종료됨',
} as const satisfies Record<PartnerRequestState, string>;

/** The state in the database for a status of the API. */
export function stateOfStatus(status: PartnerRequest['status']): PartnerRequestState | undefined {
  return Object.values(PartnerRequestState).find((state) => partnerRequestStatuses[state] === status);
}

/** In Korean, as the interface specification has it; the names are for generated clients. */
export const PartnerRequestStatus = NamedEnum(
  'PartnerRequestStatus',
  [
    { value: partnerRequestStatuses.requested, name: 'REQUESTED', description: 'Waits for the receiver' },
    { value: partnerRequestStatuses.accepted, name: 'ACCEPTED', description: 'The receiver accepted it' },
    { value: partnerRequestStatuses.declined, name: 'DECLINED', description: 'The receiver declined it' },
    {
      value: partnerRequestStatuses.withdrawn,
      name: 'WITHDRAWN',
      description: 'The sender withdrew it, or the post or an account was deleted',
    },
    {
      value: partnerRequestStatuses.ended,
      name: 'ENDED',
      description: 'It was accepted, and then one of the two stores ended it or deleted its account',
    },
  ],
  {
    description:
      'The state of a partnership request: `요청됨` (requested) becomes `수락됨` (accepted), `거절됨` (declined) or `취소됨` (withdrawn), and `수락됨` becomes `종료됨` (ended)',
    examples: [partnerRequestStatuses.requested],
  },
);
const exampleMessage = '저희 빵을 카페에서 함께 팔아 보시겠어요?';

/** Fields of a request, in every object that shows one. */
export const requestFields = {
  id: Int32({ description: 'Never changes', examples: [1] }),
  post_id: Int32({ description: 'The post that the request answers', examples: [1] }),
  post_title: Type.String({ description: 'Its title', examples: ['주말 공동 할인 함께하실 가게를 찾아요'] }),
  status: Ref(PartnerRequestStatus),
  sender_store_id: Int32({ description: 'The store that sent the request', examples: [2] }),
  sender_store_name: Type.String({ description: 'Its name', examples: ['두레 베이커리'] }),
  receiver_store_id: Int32({ description: 'The store that wrote the post', examples: [1] }),
  receiver_store_name: Type.String({ description: 'Its name', examples: ['햇살카페'] }),
  message: Type.String({ description: 'What the sender wrote', examples: [exampleMessage] }),
};

export const NewPartnerRequest = Type.Object(
  {
    post_id: Id('The post to answer; it must belong to another store'),
    message: TextField('block', {
      minLength: 1,
      maxLength: 1000,
      description: 'What to tell the other store; may contain line feeds',
      examples: [exampleMessage],
    }),
  },
  { $id: 'NewPartnerRequest', description: 'A request to send', additionalProperties: false },
);
export type NewPartnerRequest = Static<typeof NewPartnerRequest>;

/** On which side of a request the user is. */
const box = <const Box extends string>(value: Box) =>
  StringEnum([value], { description: 'Whether the user sent or received the request' });

const createdAt = Timestamp('When it was sent');
const updatedAt = Timestamp('When its status last changed');

/** The fields of a request as its sender sees it: those of the interface specification, and more. */
export const sentRequestFields = {
  box: box('sent'),
  id: requestFields.id,
  post_id: requestFields.post_id,
  post_title: requestFields.post_title,
  receiver_store_id: requestFields.receiver_store_id,
  receiver_store_name: requestFields.receiver_store_name,
  status: requestFields.status,
  message: requestFields.message,
  created_at: createdAt,
  updated_at: updatedAt,
};

/** A request as its sender sees it. */
export const PartnerRequest = Type.Object(sentRequestFields, {
  $id: 'PartnerRequest',
  description: 'A partnership request as its sender sees it',
});
export type PartnerRequest = Static<typeof PartnerRequest>;

/** The fields of a request as its receiver sees it. */
export const receivedRequestFields = {
  box: box('received'),
  id: requestFields.id,
  post_id: requestFields.post_id,
  post_title: requestFields.post_title,
  sender_store: Ref(StoreSummary),
  status: requestFields.status,
  message: requestFields.message,
  created_at: createdAt,
  updated_at: updatedAt,
};

/** A request as its receiver sees it. */
export const ReceivedPartnerRequest = Type.Object(receivedRequestFields, {
  $id: 'ReceivedPartnerRequest',
  description: 'A partnership request as its receiver sees it',
});
export type ReceivedPartnerRequest = Static<typeof ReceivedPartnerRequest>;

export const AnyPartnerRequest = Type.Unsafe<PartnerRequest | ReceivedPartnerRequest>({
  $id: 'AnyPartnerRequest',
  description: 'A request as the user sees it; `box` tells which of the two it is',
  oneOf: [{ $ref: 'PartnerRequest#' }, { $ref: 'ReceivedPartnerRequest#' }],
});
export const PartnerRequestPage = Page('PartnerRequestPage', Ref(AnyPartnerRequest));

export const PartnerRequestQuery = Type.Object({
  box: StringEnum(['sent', 'received'], {
    default: 'received',
    description: 'Requests that the user sent or received',
  }),
  status: Type.Optional(
    Type.Unsafe<Static<typeof PartnerRequestStatus>>({
      ...Ref(PartnerRequestStatus),
      description: 'Only requests in this state',
    }),
  ),
  ...PageQuery,
});

/** Registered by `$id`, so that the OpenAPI document names them. */
export const partnerRequestSchemas = [
  NewPartnerRequest,
  PartnerRequestStatus,
  PartnerRequest,
  ReceivedPartnerRequest,
  AnyPartnerRequest,
  PartnerRequestPage,
];
