import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { BoundedPageOf, PageQuery } from '../http/pagination.ts';
import { Int32, Ref, Timestamp } from '../http/schemas.ts';
import { PostSummary } from '../posts/schemas.ts';
import { StoreSummary } from '../stores/schemas.ts';
import { receivedRequestFields, sentRequestFields } from './schemas.ts';

/** How to reach a partner. Only the two sides of an accepted request see it. */
export const Contact = Type.Object(
  {
    name: Type.String({ description: 'The name of the owner', examples: ['김두레'] }),
    email: Type.String({
      format: 'email',
      description: 'The e-mail address of the owner',
      examples: ['dure@example.com'],
    }),
    phone_number: Type.String({
      description: 'The phone number of the store; empty when it has none',
      examples: ['02-123-4567'],
    }),
  },
  { $id: 'Contact', description: 'How to reach the other store of an accepted request' },
);
export type Contact = Static<typeof Contact>;

const detailFields = {
  post: Type.Union([Ref(PostSummary), Type.Null()], {
    description: 'The post that the request answers; `null` once it was deleted or is hidden',
  }),
  sender_store: Ref(StoreSummary),
  receiver_store: Ref(StoreSummary),
  contact: Type.Union([Ref(Contact), Type.Null()], {
    description:
      'How to reach the other store; `null` unless the request is `수락됨` (accepted) and the account of the other store is active',
  }),
};

function Detail<Name extends string, Fields extends TProperties>($id: Name, fields: Fields, side: string) {
  return Type.Object(
    { ...fields, ...detailFields },
    {
      $id,
      description: `A partnership request with its post, both stores and the contact, as its ${side} sees it`,
    },
  );
}

const SentPartnerRequestDetail = Detail('SentPartnerRequestDetail', sentRequestFields, 'sender');
const ReceivedPartnerRequestDetail = Detail(
  'ReceivedPartnerRequestDetail',
  receivedRequestFields,
  'receiver',
);

export const PartnerRequestDetail = Type.Unsafe<
  Static<typeof SentPartnerRequestDetail> | Static<typeof ReceivedPartnerRequestDetail>
>({
  $id: 'PartnerRequestDetail',
  description: 'A request with all that the user sees of it; `box` tells which of the two it is',
  oneOf: [{ $ref: 'SentPartnerRequestDetail#' }, { $ref: 'ReceivedPartnerRequestDetail#' }],
});
export type PartnerRequestDetail = Static<typeof PartnerRequestDetail>;

export const Partner = Type.Object(
  {
    store: Ref(StoreSummary),
    contact: Ref(Contact),
    request_id: Int32({
      description: 'The accepted request; the newest one where there are several',
      examples: [1],
    }),
    since: Timestamp('When that request was accepted'),
  },
  { $id: 'Partner', description: 'A store with which a partnership request is accepted' },
);
export type Partner = Static<typeof Partner>;

export const PartnerPage = BoundedPageOf('PartnerPage', Ref(Partner));
export const PartnerQuery = Type.Object(PageQuery);

/** Registered by `$id`, so that the OpenAPI document names them. */
export const partnerSchemas = [Contact, Partner, PartnerPage];
export const requestDetailSchemas = [
  PostSummary,
  Contact,
  SentPartnerRequestDetail,
  ReceivedPartnerRequestDetail,
  PartnerRequestDetail,
];
