/** What seeded users, stores and posts are called and say. A row's number decides its text, so every run writes the same. */

/** The kind of a shop, and its category of the migration. 숙박 is left out: few stores have it, see {@link categoryOf}. */
const kinds = [
  ['카페', '카페'],
  ['식당', '음식점'],
  ['베이커리', '베이커리'],
  ['술집', '주점'],
  ['마트', '식료품'],
  ['옷가게', '의류·잡화'],
  ['미용실', '미용'],
  ['필라테스', '건강·운동'],
  ['공방', '교육'],
  ['서점', '문화·여가'],
  ['꽃집', '기타'],
] as const;
const names = ['두레', '봄날', '한빛', '달빛', '모퉁이', '느티나무', '햇살', '바람', '정다운', '솔숲'];
const wishes = [
  '공동 할인',
  '쿠폰 교환',
  '함께 여는 장터',
  '재료 공동 구매',
  '배달 나눔',
  '전시 협업',
  '체험 수업',
];
const calls = ['구함', '찾습니다', '모집', '찾아요'];
const times = ['이번 주말', '다음 달', '봄에', '가을에', '평일 오후', '매달 첫 주', '저녁마다'];
const details = [
  '저희 손님께 서로의 쿠폰을 나눠 드리면 좋겠습니다.',
  '수익은 반씩 나누고 준비는 함께 합니다.',
  '가게 앞 마당을 빌려 드릴 수 있습니다.',
  '재료를 같이 사면 값을 많이 줄일 수 있습니다.',
  '작년에도 해 보았는데 손님들이 무척 좋아했습니다.',
  '포스터와 안내문은 저희가 만들겠습니다.',
  '처음 하시는 분도 환영합니다.',
  '아이들과 어르신이 함께 즐기는 자리입니다.',
  '영수증을 가져오시면 10%씩 깎아 드립니다.',
  '주차는 다섯 대까지 됩니다.',
  '커피와 빵은 저희가 내겠습니다.',
  '사진은 저희 단골이 찍어 줍니다.',
];
const syllables = [
  ...'가나다라마바사아자차카타파하고노도로모보소오조초호구누두루무부수우주추후기니디리미비시이지치',
];

/** Words with a known number of matches, for searches. */
export const searchWords = {
  /** In every post. */
  everywhere: '파트너',
  /** In one of four posts. */
  frequent: '공동 구매',
  /** In one of 2,000 posts. */
  rare: '플리마켓',
  /** In one post of each run, the oldest one, and in the name of one store. */
  once: '은하수다방',
  /** Every pair of its characters is in every post, but never in this order. */
  frequentPairs: '파트너 연락',
  /** Every pair of its characters is in the name of one of 110 stores, but never in this order. */
  frequentPairsOfStores: '카페 두레',
};

/** Spreads numbers evenly, without a pattern. @returns 32 bits */
export function mix(n: number, salt: number): number {
  let bits = Math.imul(n ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function pick<T>(list: readonly [T, ...T[]] | readonly T[], n: number, salt: number): T {
  const item = list[mix(n, salt) % list.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** One of some 2,000 places. */
function placeOf(n: number): string {
  return `${pick(syllables, n, 1)}${pick(syllables, n, 2)}동`;
}

/** One in 1,000 stores is a guest house, so that there is a rare category. */
export function categoryOf(n: number): string {
  return n % 1_000 === 7 ? '숙박' : pick(kinds, n, 3)[1];
}

export function storeName(n: number): string {
  const kind = n % 1_000 === 7 ? '민박' : pick(kinds, n, 3)[0];
  return `${placeOf(n)} ${n === 2 ? searchWords.once : pick(names, n, 4)} ${kind} ${n}호점`;
}

/** @param n the number of the post, unique in the database; @param position that in this run, from 0 */
export function postText(n: number, position: number): { title: string; content: string } {
  const special = [
    ...(position === 0 ? [`${searchWords.once}에서 만나요.`] : []),
    ...(position % 2_000 === 11 ? [`${searchWords.rare}도 엽니다.`] : []),
  ];
  return {
    title: `${pick(wishes, n, 5)} ${searchWords.everywhere} ${pick(calls, n, 6)} #${n}`,
    content: [
      `${placeOf(mix(n, 7))} ${pick(kinds, n, 8)[0]}에서 ${pick(times, n, 9)} ${pick(wishes, n, 10)} 함께하실 이웃을 찾습니다.`,
      pick(details, n, 11),
      pick(details, n, 12),
      ...special,
      '관심 있는 이웃은 연락해 주세요.',
    ].join(' '),
  };
}
