import { searchWords } from '../../scripts/seed/texts.ts';
import type { Shared, Viewer } from './side.ts';

/** One kind of request. */
export interface Read {
  name: string;
  path(viewer: Viewer, shared: Shared): string;
}

const notifications = '/api/v1/notifications/';
const requests = `${notifications}partner-request/`;

/** A path with a query; values are encoded. */
function withQuery(path: string, query: Record<string, string | number | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  return `${path}?${parameters}`;
}

const posts = (query: Record<string, string | number | undefined>) => withQuery('/api/v1/posts/', query);
const stores = (query: Record<string, string | number | undefined>) => withQuery('/api/v1/stores/', query);

const statuses = {
  pending: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
  ended: '종료됨',
};

function requestReads(box: 'sent' | 'received'): Read[] {
  return [
    { name: `requests ${box}`, path: () => withQuery(requests, { box }) },
    ...Object.entries(statuses).map(([label, status]) => ({
      name: `requests ${box}, ${label}`,
      path: () => withQuery(requests, { box, status }),
    })),
  ];
}

/** What a user reads of the own account and the own store. */
export const ownReads: Read[] = [
  { name: 'me', path: () => '/auth/me/' },
  { name: 'my-page', path: () => '/api/v1/stores/mypage/' },
  { name: 'notifications', path: () => `${notifications}mypage/` },
  {
    name: 'notifications, deep page',
    path: ({ deepNotifications }) => withQuery(`${notifications}mypage/`, { cursor: deepNotifications }),
  },
  { name: 'notifications, read', path: () => withQuery(`${notifications}mypage/`, { is_read: 'true' }) },
  { name: 'notifications, unread', path: () => withQuery(`${notifications}mypage/`, { is_read: 'false' }) },
  { name: 'unread count', path: () => `${notifications}unread-count/` },
  ...requestReads('received'),
  ...requestReads('sent'),
  { name: 'posts, own', path: () => posts({ mine: 'true' }) },
  {
    name: 'posts, own, search of a word in each',
    path: () => posts({ mine: 'true', q: searchWords.everywhere }),
  },
  {
    name: 'posts, own, search of frequent parts',
    path: () => posts({ mine: 'true', q: searchWords.frequentParts }),
  },
  { name: 'posts of a store', path: ({ storeId }) => posts({ store_id: storeId }) },
  {
    name: 'posts of a store, search of a rare word',
    path: ({ storeId }) => posts({ store_id: storeId, q: searchWords.rare }),
  },
  {
    name: 'posts of a store, another category',
    path: ({ storeId }, { categories }) => posts({ store_id: storeId, category_id: categories.get('숙박') }),
  },
];

const searches: Record<string, (shared: Shared) => string> = {
  'a word in each': () => searchWords.everywhere,
  'a frequent word': () => searchWords.frequent,
  'a rare word': () => searchWords.rare,
  'one match, the oldest post': () => searchWords.once,
  'one match, a number': ({ postNumber }) => `#${postNumber} `.trim(),
  'a frequent word without its space': () => searchWords.frequent.replaceAll(' ', ''),
  'frequent parts, no match': () => searchWords.frequentParts,
  'long, frequent parts, no match': () =>
    `연락 드리겠습니다. ${searchWords.frequentParts} 연락 드리겠습니다. 함께하실 이웃을 찾습니다.`,
  'no match': () => '없는낱말',
  'a frequent character': () => '파',
  'a character without match': () => '뷁',
};

const storeSearches = {
  'a frequent word': '카페',
  'a frequent character': '동',
  'one match': searchWords.onceInNames,
  'one match in an address': searchWords.onceInAddresses,
  'one match in a description': searchWords.onceInDescriptions,
  'a district': '마포구',
  'a street': '와우산로 12길',
  'a street without its space': '와우산로12길',
  'a district and a street': '전주시 완산구 향교로 7길',
  'frequent parts, no match': searchWords.frequentPartsOfStores,
};

const categories = { category: '카페', 'rare category': '숙박' };

/** Lists and searches of the posts and stores of everybody. */
export const sharedReads: Read[] = [
  { name: 'posts', path: () => posts({}) },
  { name: 'posts, deep page', path: (_, { deepPosts }) => posts({ cursor: deepPosts }) },
  ...Object.entries(searches).map(([name, word]) => ({
    name: `posts, search: ${name}`,
    path: (_: Viewer, shared: Shared) => posts({ q: word(shared) }),
  })),
  {
    name: 'posts, search: frequent parts, deep page',
    path: (_, { deepPosts }) => posts({ q: searchWords.frequentParts, cursor: deepPosts }),
  },
  ...Object.entries(categories).flatMap(([label, category]) => [
    {
      name: `posts, ${label}`,
      path: (_: Viewer, shared: Shared) => posts({ category_id: shared.categories.get(category) }),
    },
    ...Object.entries(searches).map(([name, word]) => ({
      name: `posts, ${label}, search: ${name}`,
      path: (_: Viewer, shared: Shared) =>
        posts({ category_id: shared.categories.get(category), q: word(shared) }),
    })),
  ]),
  { name: 'stores', path: () => stores({}) },
  { name: 'stores, deep page', path: (_, { deepStores }) => stores({ cursor: deepStores }) },
  ...Object.entries(storeSearches).map(([name, q]) => ({
    name: `stores, search: ${name}`,
    path: () => stores({ q }),
  })),
  ...Object.entries(categories).flatMap(([label, category]) => [
    {
      name: `stores, ${label}`,
      path: (_: Viewer, shared: Shared) => stores({ category_id: shared.categories.get(category) }),
    },
    {
      name: `stores, ${label}, search: a frequent word`,
      path: (_: Viewer, shared: Shared) =>
        stores({ category_id: shared.categories.get(category), q: '두레' }),
    },
    {
      name: `stores, ${label}, search: no match`,
      path: (_: Viewer, shared: Shared) =>
        stores({ category_id: shared.categories.get(category), q: searchWords.frequentPartsOfStores }),
    },
  ]),
];
