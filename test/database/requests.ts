import { requestsPath } from '../support/partner-requests.ts';

const api = '/api/v1';
const near = 'near=37.55,126.98&radius_m=50000';
const lists = ['', '?is_read=true', '?is_read=false'].map((query) => `${api}/notifications/mypage/${query}`);
const boxes = ['', '요청됨', '수락됨', '거절됨', '취소됨', '종료됨'].flatMap((status) =>
  ['received', 'sent'].map((box) => `${requestsPath}?box=${box}${status && `&status=${status}`}`),
);
const rare = ['희귀어', '귀', '없는말', '없', '가나다라마', '희귀점', '드문 길', '없는 길'].map(
  (q) => `q=${q}`,
);
const rareRegions = ['드문구', '없는구'].flatMap((region) => [
  `region=${region}`,
  `region=${region}&q=희귀어`,
]);
const ofPosts = (...queries: string[]) => queries.map((query) => `${api}/posts/?${query}`);
const ofStores = (...queries: string[]) => queries.map((query) => `${api}/stores/?${query}`);

/**
 * Requests of the user with the most rows, by the most pages of tables and indexes that all statements of one and of its next page
 * may touch. What is rare is found through an index, what is frequent among the newest rows; a search of neither kind examines a part
 * of the rows, in order.
 */
export const requests: Record<number, string[]> = {
  64: [`${api}/notifications/unread-count/`],
  256: ofStores(...rare, ...rareRegions),
  512: ['/auth/sessions/', ...ofPosts('mine=true&category_id=12')],
  1024: [
    ...lists,
    ...boxes,
    `${api}/stores/mypage/`,
    ...ofStores('', 'q=카페', 'q=카', 'q=큰길', 'region=큰 구', near),
  ],
  2048: [
    ...ofPosts(
      '',
      'q=카페',
      'q=카',
      'category_id=1',
      'region=큰 구',
      near,
      `${near}&q=카페`,
      'mine=true',
      'mine=true&q=카페',
    ),
    ...ofPosts(
      ...rare,
      ...rareRegions,
      'status=all&q=희귀어',
      'category_id=11',
      'category_id=12',
      'category_id=11&q=희귀어',
    ),
    ...ofStores('category_id=1', 'category_id=11', 'category_id=12', `${near}&q=카페`),
  ],
  4096: [
    `${api}/stores/partners/`,
    ...ofStores(`${near}&q=희귀점`, `${near}&q=없는말`, `${near}&category_id=4`),
  ],
  8192: [
    ...ofPosts(`${near}&q=희귀점`, `${near}&q=없는말`, `${near}&category_id=4`, `${near}&category_id=11`),
    ...ofStores(`${near}&category_id=11`),
  ],
  16384: ofPosts('q=가나다라', 'q=예전', 'category_id=1&q=가나다라', 'status=closed', `${near}&q=가나다라`),
  32768: [...ofPosts('mine=true&q=가나다라'), ...ofStores(`${near}&q=가나다라`)],
};
