import { type Static, Type } from '@sinclair/typebox';
import { Reference } from '../http/schemas.ts';
import { PartnerRequest } from '../notifications/schemas.ts';
import { PostSummary } from '../posts/schemas.ts';
import { StoreSummary } from './schemas.ts';

// Apart from the other schemas of stores, which posts and notifications refer to.

/** How many posts and how many requests my-page holds at most. */
export const myPageLimit = 100;

export const MyPage = Type.Object(
  {
    store: Type.Union([Reference(StoreSummary), Type.Null()], {
      description: 'The store of the user; `null` when none is registered',
    }),
    posts: Type.Array(Reference(PostSummary), {
      maxItems: myPageLimit,
      description:
        'The latest posts of the user, newest first; all of them are at `GET /api/v1/posts/?mine=true`',
    }),
    sent_requests: Type.Array(Reference(PartnerRequest), {
      maxItems: myPageLimit,
      description:
        'The latest partnership requests that the user sent, newest first; all of them are at `GET /api/v1/notifications/partner-request/?box=sent`',
    }),
  },
  { $id: 'MyPage' },
);
export type MyPage = Static<typeof MyPage>;

/** Registered by `$id`, so that the OpenAPI document names them. */
export const myPageSchemas = [PostSummary, PartnerRequest, MyPage];
