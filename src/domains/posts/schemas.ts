import { type Static, Type } from '@sinclair/typebox';
import { defineError } from '../../http/errors.ts';
import { Page } from '../../http/pagination.ts';
import * as t from '../../http/schemas.ts';
import { Block, Line, OptionalLine, TextField, whenEmpty } from '../../http/text.ts';
import { PartnerRequestStatus as PartnerRequestState } from '../../infrastructure/database/generated/enums.ts';
import { toUtc } from '../../infrastructure/times.ts';
import type { ImageUrls } from '../images/index.ts';
import { Distance, SearchQuery, StoreSummary, textMatch } from '../stores/index.ts';
import type { ListedPostRow, PostRow } from './repository.ts';

/** Errors of the operations on posts. */
export const postErrors = {
  postNotFound: defineError(404, 'post_not_found', {
    ko: '해당 글을 찾을 수 없습니다.',
    en: 'The post was not found.',
  }),
  storeRequired: defineError(403, 'store_required', {
    ko: '먼저 가게를 등록해 주세요.',
    en: 'Please register your store first.',
  }),
  notYourPost: defineError(403, 'forbidden', {
    ko: '직접 쓴 글만 수정하거나 삭제할 수 있습니다.',
    en: 'You can only change or delete your own posts.',
  }),
};

const summary = {
  id: t.BigId('Identifier'),
  title: t.Text('Its title', 100),
  thumbnail: t.Url(
    'The small version of an uploaded first image, else the URL of the first image; without images, a neutral one of the first category of the store',
  ),
  created_at: t.Timestamp('When it was written'),
};

/** Each state of a partner request in the database, as the API shows it: a post has that of the reader's newest request. */
export const partnerRequestStatuses = {
  requested: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
  ended: '종료됨',
} as const satisfies Record<PartnerRequestState, string>;

/** The state in the database for a status of the API. */
export function stateOfStatus(status: Static<typeof PartnerRequestStatus>): PartnerRequestState | undefined {
  return Object.values(PartnerRequestState).find((state) => partnerRequestStatuses[state] === status);
}

/** In Korean, as clients show them; the names are for generated clients. */
export const PartnerRequestStatus = t.NamedEnum(
  'PartnerRequestStatus',
  'The state of a partnership request: `요청됨` (requested) becomes `수락됨` (accepted), `거절됨` (declined) or `취소됨` (withdrawn), and `수락됨` becomes `종료됨` (ended)',
  {
    [partnerRequestStatuses.requested]: 'Waits for the receiver',
    [partnerRequestStatuses.accepted]: 'The receiver accepted it',
    [partnerRequestStatuses.declined]: 'The receiver declined it',
    [partnerRequestStatuses.withdrawn]: 'The sender withdrew it, or the post or an account was deleted',
    [partnerRequestStatuses.ended]:
      'It was accepted, and then one of the two stores ended it or deleted its account',
  },
  ['REQUESTED', 'ACCEPTED', 'DECLINED', 'WITHDRAWN', 'ENDED'],
);

/** A post in short: exactly these fields, wherever it appears. */
export const PostSummary = t.NamedObject('PostSummary', 'A post in short', summary);
export type PostSummary = Static<typeof PostSummary>;

const PostStatus = t.NamedEnum('PostStatus', 'Whether a post takes partnership requests', {
  open: 'It can be answered with a request',
  closed: 'It takes no new requests; pending ones can still be answered',
});

const PostFilter = t.NamedEnum('PostFilter', 'Which posts a list has', {
  open: 'Those that take requests',
  closed: 'Those that do not',
  all: 'Both',
});

const closesOn = t.Day('The last day on which it is open, in Korea; `null`: until it is closed');

export const Post = t.NamedObject('Post', 'What kind of partnership a store is looking for', {
  ...summary,
  content: t.Text('May contain line feeds', 5000),
  images: t.List(t.Url(''), 10, 'URLs of its images, in the order of the author'),
  store: t.Ref(StoreSummary),
  status: t.Ref(PostStatus),
  closes_on: t.OrNull(closesOn),
  is_mine: t.Flag("Whether it is a post of the user's store"),
  my_request_status: t.RefOrNull(
    PartnerRequestStatus,
    "The status of the newest request that the user's store sent for it; `null` without one",
  ),
  updated_at: t.Timestamp('When it was last changed'),
});
export type Post = Static<typeof Post>;

export const NewPost = t.Body('NewPost', 'A post to publish', {
  title: Line('Its title', { ...whenEmpty('제목을 입력해 주세요.', 'Enter a title.'), maxLength: 100 }),
  content: Block('May contain line feeds', 5000),
  images: Type.Optional(
    Type.Array(TextField('url', { minLength: 1, maxLength: 2048, format: 'uri' }), {
      maxItems: 10,
      description:
        'Images in the order in which they are shown: the `url` of an own uploaded image, or an absolute `https` URL without credentials (plain `http` too outside production). The first one is the thumbnail. The same image may appear in several posts, and more than once.',
    }),
  ),
  closes_on: Type.Optional(t.OrNull(TextField('date', closesOn))),
});
export type NewPost = Static<typeof NewPost>;

export const PostChanges = t.Changes(
  'PostChanges',
  'At least one field; fields that are not given stay unchanged',
  { ...NewPost.properties, status: Type.Optional(t.Ref(PostStatus)) },
);
export type PostChanges = Static<typeof PostChanges>;

export const PostQuery = Type.Object({
  mine: Type.Optional(t.Flag('`true`: only posts of your own store')),
  store_id: Type.Optional(t.Id('Only posts of this store')),
  status: Type.Optional(
    t.Ref(PostFilter, { description: 'Which posts; by default `open`, with `mine=true` `all`' }),
  ),
  q: OptionalLine(
    `Only posts whose title or content contains this text, or the name or address of their store. ${textMatch} Empty for all posts.`,
    100,
  ),
  ...SearchQuery,
});

export type PostQuery = Static<typeof PostQuery>;

export const PostListItem = t.NamedObject('PostListItem', 'A post in a list', {
  ...Post.properties,
  distance_m: Distance,
});

export const PostPage = Page('PostPage', t.Ref(PostListItem));

/** A post in JSON, for {@link toPostSummary}. */
export interface PostSummaryRow extends Pick<PostSummary, 'id' | 'title'> {
  firstImage: string | null;
  createdAt: string;
}

/** A post in short, as the API shows it. */
export function toPostSummary(
  { id, title, firstImage, createdAt }: PostSummaryRow,
  store: StoreSummary,
  imageUrls: ImageUrls,
): PostSummary {
  return { id, title, thumbnail: imageUrls.thumbnailOf(firstImage, store), created_at: toUtc(createdAt) };
}

/** A post as the API shows it to a user. */
export function toPost({ isOpen, createdAt, updatedAt, ...row }: PostRow, imageUrls: ImageUrls): Post {
  return {
    ...row,
    thumbnail: imageUrls.thumbnailOf(row.images[0], row.store),
    images: row.images.map(imageUrls.url),
    status: isOpen ? 'open' : 'closed',
    my_request_status: row.my_request_status && partnerRequestStatuses[row.my_request_status],
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** A post in a list. */
export function toPostListItem({ distance, ...row }: ListedPostRow, imageUrls: ImageUrls) {
  return { ...toPost(row, imageUrls), distance_m: distance && Math.round(distance / 1_000) };
}
