import { type Static, Type } from '@sinclair/typebox';
import { PartnerRequestStatus as PartnerRequestState } from '../database/generated/enums.ts';
import { PageQuery } from '../http/pagination.ts';
import { Id, Ref, StringEnum, Timestamp } from '../http/schemas.ts';
import { TextField } from '../http/text.ts';
import { StoreSummary } from '../stores/schemas.ts';

/** The status that the API shows for each state in the database. */
export const partnerRequestStatuses = {
  requested: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
} as const satisfies Record<PartnerRequestState, string>;

/** The state in the database for a status of the API. */
export function stateOfStatus(status: PartnerRequest['status']): PartnerRequestState | undefined {
  return Object.values(PartnerRequestState).find((state) => partnerRequestStatuses[state] === status);
}

const status = (description: string) => StringEnum(Object.values(partnerRequestStatuses), { description });
const exampleMessage = '저희 빵을 카페에서 함께 팔아 보시겠어요?';

/** Fields of a request, in every object that shows one. */
export const requestFields = {
  id: Type.Integer({ examples: [1] }),
  post_id: Type.Integer({ description: 'The post that the request answers', examples: [1] }),
  post_title: Type.String({ examples: ['주말 공동 할인 함께하실 가게를 찾아요'] }),
  status: status(
    '`요청됨` (requested) becomes `수락됨` (accepted) or `거절됨` (declined) by the receiver, or `취소됨` (withdrawn) by the sender or because the post or an account went away',
  ),
  sender_store_name: Type.String({
    description: 'The store that sent the request',
    examples: ['두레 베이커리'],
  }),
  receiver_store_name: Type.String({ description: 'The store that wrote the post', examples: ['햇살카페'] }),
  message: Type.String({ description: 'What the sender wrote', examples: [exampleMessage] }),
};

export const NewPartnerRequest = Type.Object(
  {
    post_id: Id('The post to answer; it must belong to another store'),
    message: TextField('block', {
      minLength: 1,
      maxLength: 1000,
      description: 'May contain line feeds',
      examples: [exampleMessage],
    }),
  },
  { $id: 'NewPartnerRequest', additionalProperties: false },
);
export type NewPartnerRequest = Static<typeof NewPartnerRequest>;

/** A request as its sender sees it: exactly the fields of the interface specification. */
export const PartnerRequest = Type.Object(
  {
    id: requestFields.id,
    post_id: requestFields.post_id,
    receiver_store_name: requestFields.receiver_store_name,
    status: requestFields.status,
    message: requestFields.message,
    created_at: Timestamp('When it was sent'),
  },
  { $id: 'PartnerRequest', description: 'A partnership request as its sender sees it' },
);
export type PartnerRequest = Static<typeof PartnerRequest>;

/** A request as its receiver sees it. */
export const ReceivedPartnerRequest = Type.Object(
  {
    id: requestFields.id,
    post_id: requestFields.post_id,
    post_title: requestFields.post_title,
    sender_store: Ref(StoreSummary),
    status: requestFields.status,
    message: requestFields.message,
    created_at: Timestamp('When it was sent'),
  },
  { $id: 'ReceivedPartnerRequest', description: 'A partnership request as its receiver sees it' },
);
export type ReceivedPartnerRequest = Static<typeof ReceivedPartnerRequest>;

export const PartnerRequestQuery = Type.Object({
  box: StringEnum(['sent', 'received'], {
    default: 'received',
    description: '`sent` lists PartnerRequest, `received` ReceivedPartnerRequest',
  }),
  status: Type.Optional(status('Only requests in this state')),
  ...PageQuery,
});

/** Registered by `$id`, so that the OpenAPI document names them. */
export const partnerRequestSchemas = [NewPartnerRequest, PartnerRequest, ReceivedPartnerRequest];
