import { searchWords } from '../../scripts/seed/texts.ts';

/** A user who reads, with what the paths of the reads need. */
export interface Viewer {
  token: string;
  storeId: number;
  /** Cursors of pages deep in the lists. */
  deepNotifications: string;
  deepPosts: string;
  deepStores: string;
  /** Ids of categories by name. */
  categories: Map<string, number>;
  /** The number in the title of a post in the middle. */
  postNumber: number;
}

/** Paths by the names of the reads. */
export type Reads = (viewer: Viewer) => Record<string, string>;

const inbox = '/api/v1/notifications/mypage/';
const requests = '/api/v1/notifications/partner-request/';
const posts = '/api/v1/posts/';
const stores = '/api/v1/stores/';

/** Names and values with another beginning of the names, and other values. */
const prefixed = (prefix: string, values: Record<string, string>, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, change(value)]));

const statuses = {
  pending: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
  ended: '종료됨',
};

/** What a user reads of the own account and the own store. */
export const ownReads: Reads = ({ storeId, deepNotifications, categories }) => ({
  me: '/auth/me/',
  'my-page': '/api/v1/stores/mypage/',
  notifications: inbox,
  'notifications, deep page': `${inbox}?cursor=${deepNotifications}`,
  'notifications, read': `${inbox}?is_read=true`,
  'notifications, unread': `${inbox}?is_read=false`,
  'unread count': '/api/v1/notifications/unread-count/',
  'requests received': `${requests}?box=received`,
  ...prefixed('requests received, ', statuses, (status) => `${requests}?box=received&status=${status}`),
  'requests sent': `${requests}?box=sent`,
  ...prefixed('requests sent, ', statuses, (status) => `${requests}?box=sent&status=${status}`),
  'posts, own': `${posts}?mine=true`,
  'posts, own, search of a word in each': `${posts}?mine=true&q=${searchWords.everywhere}`,
  'posts, own, search of frequent parts': `${posts}?mine=true&q=${searchWords.frequentParts}`,
  'posts of a store': `${posts}?store_id=${storeId}`,
  'posts of a store, search of a rare word': `${posts}?store_id=${storeId}&q=${searchWords.rare}`,
  'posts of a store, another category': `${posts}?store_id=${storeId}&category_id=${categories.get('숙박')}`,
});

const searches = {
  'a word in each': searchWords.everywhere,
  'a frequent word': searchWords.frequent,
  'a rare word': searchWords.rare,
  'one match, the oldest post': searchWords.once,
  'a frequent word without its space': searchWords.frequent.replaceAll(' ', ''),
  'frequent parts, no match': searchWords.frequentParts,
  'long, frequent parts, no match': `연락 드리겠습니다. ${searchWords.frequentParts} 연락 드리겠습니다. 함께하실 이웃을 찾습니다.`,
  'no match': '없는낱말',
  'a frequent character': '파',
  'a character without match': '뷁',
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

const places = {
  'around Seoul': 'near=37.55,126.98&radius_m=50000',
  'around a place at sea': 'near=38.5,131.5',
};

/** Lists and searches of the posts and stores of everybody. */
export const sharedReads: Reads = ({ deepPosts, deepStores, categories, postNumber }) => {
  const ofCategory = (label: string, name: string) => {
    const [ofPosts, ofStores] = [posts, stores].map((path) => `${path}?category_id=${categories.get(name)}`);
    return {
      [`posts, ${label}`]: `${ofPosts}`,
      ...prefixed(`posts, ${label}, search: `, searches, (q) => `${ofPosts}&q=${q}`),
      [`stores, ${label}`]: `${ofStores}`,
      [`stores, ${label}, search: a frequent word`]: `${ofStores}&q=두레`,
      [`stores, ${label}, search: no match`]: `${ofStores}&q=${searchWords.frequentPartsOfStores}`,
    };
  };
  return {
    posts,
    'posts, deep page': `${posts}?cursor=${deepPosts}`,
    ...prefixed('posts, search: ', searches, (q) => `${posts}?q=${q}`),
    'posts, search: one match, a number': `${posts}?q=%23${postNumber}`,
    'posts, search: frequent parts, deep page': `${posts}?q=${searchWords.frequentParts}&cursor=${deepPosts}`,
    ...prefixed('posts ', places, (place) => `${posts}?${place}`),
    stores,
    'stores, deep page': `${stores}?cursor=${deepStores}`,
    ...prefixed('stores, search: ', storeSearches, (q) => `${stores}?q=${q}`),
    ...prefixed('stores ', places, (place) => `${stores}?${place}`),
    ...ofCategory('category', '카페'),
    ...ofCategory('rare category', '숙박'),
  };
};
