import {
  calls,
  details,
  districts,
  introductions,
  kinds,
  names,
  roads,
  syllables,
  times,
  wishes,
} from './words.ts';

/*
 * What seeded users, stores and posts are called and say. A row's number decides its text, so every run writes the same.
 */

/** Words with a known number of matches, for searches. */
export const searchWords = {
  /** In every post. */
  everywhere: '파트너',
  /** In one of four posts. */
  frequent: '공동 구매',
  /** In one of 2,000 posts. */
  rare: '플리마켓',
  /** In one post of each run, the oldest one. */
  once: '은하수다방',
  /** Every three neighbouring characters of it are in every post, but it is in none. */
  frequentParts: '주시면 연락 주시면',
  /** The same for the descriptions of stores. */
  frequentPartsOfStores: '주시면 소식 주시면',
  /** In the name of one store, and so of all its posts. */
  onceInNames: '달맞이상회',
  /** In the address of one store. */
  onceInAddresses: '미리내길',
  /** In the description of one store. */
  onceInDescriptions: '별자리 사진전',
};

/** Spreads numbers evenly, without a pattern. @returns 32 bits */
export function mix(n: number, salt: number): number {
  let bits = Math.imul(n ^ Math.imul(salt, 0x9e3779b1), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function pick<T>(list: readonly T[], n: number, salt: number): T {
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
  return `${placeOf(n)} ${n === 2 ? searchWords.onceInNames : pick(names, n, 4)} ${kind} ${n}호점`;
}

export function storeAddress(n: number): string {
  const street = n === 3 ? searchWords.onceInAddresses : `${pick(roads, n, 13)} ${1 + (mix(n, 14) % 60)}길`;
  const [district] = pick(districts, n, 12);
  return `${district} ${street} ${1 + (mix(n, 15) % 120)}, ${1 + (mix(n, 16) % 5)}층 (${placeOf(n)})`;
}

/** Within three kilometres of the middle of its district. One in ten stores gave none. */
export function storeLocation(n: number): { latitude: number; longitude: number } | null {
  if (mix(n, 21) % 10 === 0) return null;
  const [, latitude, longitude] = pick(districts, n, 12);
  const offset = (salt: number) => ((mix(n, salt) % 50_000) - 25_000) / 1_000_000;
  return {
    latitude: Number((latitude + offset(22)).toFixed(6)),
    longitude: Number((longitude + offset(23)).toFixed(6)),
  };
}

/** One in 100 is as long as a description can be. */
export function storeDescription(n: number): string {
  const sentences = [
    pick(introductions, n, 17),
    `${pick(wishes, n, 18)}에 관심이 있습니다.`,
    ...(n === 4 ? [`${searchWords.onceInDescriptions}을 엽니다.`] : []),
    '소식 주시면 소식 드리겠습니다.',
  ];
  if (n % 100 !== 99) return sentences.join(' ');
  const more = Array.from({ length: 100 }, (_, index) => pick(introductions, mix(n, 19), index));
  return [...sentences, ...more].join('\n').slice(0, 2_000).trim();
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
      '연락 주시면 연락 드리겠습니다.',
    ].join(' '),
  };
}
