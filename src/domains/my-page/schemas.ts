import { type Static, Type } from '@sinclair/typebox';
import { NamedObject, Ref, RefOrNull } from '../../http/schemas.ts';
import { PartnerRequest } from '../partner-requests/index.ts';
import { PostSummary } from '../posts/index.ts';
import { StoreSummary } from '../stores/index.ts';

/** The most posts and the most requests on my-page. */
export const myPageLimit = 100;

export const MyPage = NamedObject('MyPage', 'The overview of the user', {
  store: RefOrNull(StoreSummary, 'The store of the user; `null` when none is registered'),
  posts: Type.Array(Ref(PostSummary), {
    maxItems: myPageLimit,
    description:
      'The latest posts of the user, newest first; all of them are at `GET /api/v1/posts/?mine=true`',
  }),
  sent_requests: Type.Array(Ref(PartnerRequest), {
    maxItems: myPageLimit,
    description:
      'The latest partnership requests that the user sent, newest first; all of them are at `GET /api/v1/notifications/partner-request/?box=sent`',
  }),
});
export type MyPage = Static<typeof MyPage>;
