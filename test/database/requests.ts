import { requestsPath } from '../support/partner-requests.ts';

const near = 'near=37.55,126.98&radius_m=50000';
const rare = `q=희귀어 q=귀 q=없는말 q=없 q=가나다라마 q=희귀점 q=드문 길 q=없는 길`
  .split(/ (?=q)/)
  .concat(['드문구', '없는구'].flatMap((region) => [`region=${region}`, `region=${region}&q=희귀어`]));
const statuses = [
  '',
  ...['요청됨', '수락됨', '거절됨', '취소됨', '종료됨'].map((status) => `&status=${status}`),
];

const of = (path: string, ...queries: string[]) => queries.map((query) => `/api/v1/${path}/?${query}`);
const ofPosts = (...queries: string[]) => of('posts', ...queries);
const ofStores = (...queries: string[]) => of('stores', ...queries);
const nearby = (...filters: string[]) => filters.map((filter) => `${near}&${filter}`);

/**
 * Requests of the user with the most rows, by the most pages of tables and indexes that all statements of one and of its next page
 * may touch. What is rare is found through an index, what is frequent among the newest rows; a search of neither kind examines a part
 * of the rows, in order.
 */
export const requests: Record<number, string[]> = {
  64: of('notifications/unread-count', ''),
  256: ofStores(...rare),
  512: ['/auth/sessions/', ...ofPosts('mine=true&category_id=12')],
  1024: [
    ...of('notifications/mypage', '', 'is_read=true', 'is_read=false'),
    ...statuses.flatMap((status) => ['received', 'sent'].map((box) => `${requestsPath}?box=${box}${status}`)),
    ...of('stores/mypage', ''),
    ...ofStores('', 'q=카페', 'q=카', 'q=큰길', 'region=큰 구', near),
  ],
  2048: [
    ...ofPosts('', 'q=카페', 'q=카', 'category_id=1', 'region=큰 구', 'mine=true', 'mine=true&q=카페'),
    ...ofPosts(...rare, 'status=all&q=희귀어', near, ...nearby('q=카페')),
    ...ofPosts('category_id=11', 'category_id=12', 'category_id=11&q=희귀어'),
    ...ofStores('category_id=1', 'category_id=11', 'category_id=12', ...nearby('q=카페')),
  ],
  4096: [...of('stores/partners', ''), ...ofStores(...nearby('q=희귀점', 'q=없는말', 'category_id=4'))],
  8192: [
    ...ofPosts(...nearby('q=희귀점', 'q=없는말', 'category_id=4', 'category_id=11')),
    ...ofStores(...nearby('category_id=11')),
  ],
  16384: ofPosts(
    'q=가나다라',
    'q=예전',
    'category_id=1&q=가나다라',
    'status=closed',
    ...nearby('q=가나다라'),
  ),
  32768: [...ofPosts('mine=true&q=가나다라'), ...ofStores(...nearby('q=가나다라'))],
};
