import { invalidFields } from '../../http/errors.ts';
import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import { raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import { koreanOffset } from '../../infrastructure/korean-time.ts';
import type { PostChanges, PostQuery } from './schemas.ts';

const today = raw(`(now() AT TIME ZONE 'Asia/Seoul')::date`);

/**
 * True where a post takes requests: its author has not closed it, and the last day of it is not over.
 *
 * @param alias of the post in the query
 */
export function isOpenPost(alias: 'p' | 'item'): Sql {
  const post = raw(alias);
  return sql`(${post}.closed_at IS NULL AND (${post}.closes_on IS NULL OR ${post}.closes_on >= ${today}))`;
}

/** Posts whose last day is over. That they are marked keeps them out of the indexes of open posts; it changes nothing else. */
export const duePosts: ExpiredRows = {
  table: 'posts',
  condition: sql`closed_at IS NULL AND closes_on < ${today}`,
  erase: sql`closed_at = now()`,
};

/**
 * Which posts of a status a search examines, and which of those it lists. Only the index of open posts leaves others out;
 * closed posts are looked for among all, because those that are due are in no index of closed ones.
 */
export function ofStatus(status: NonNullable<PostQuery['status']>): { isExamined?: Sql; isListed: Sql } {
  if (status === 'open') return { isExamined: sql`item.closed_at IS NULL`, isListed: isOpenPost('item') };
  return { isListed: sql`(${status === 'all'}::bool OR NOT ${isOpenPost('item')})` };
}

/** Sets `closed_at` and `closes_on` of the post `p` to what its author asks for. What is closed stays closed until it is opened. */
export function setClosing({ status, closes_on: date }: PostChanges): Sql {
  const closesOn = date === undefined ? raw('p.closes_on') : sql`${date}::date`;
  if (status === 'open') {
    return sql`closed_at = NULL, closes_on = CASE WHEN ${closesOn} >= ${today} THEN ${closesOn} END`;
  }
  const isClosed = status === 'closed' ? raw('true') : sql`NOT ${isOpenPost('p')}`;
  return sql`closed_at = CASE WHEN ${isClosed} THEN coalesce(p.closed_at, now()) END, closes_on = ${closesOn}`;
}

/** @throws {ApiError} `validation_error` for a last day that is over */
export function checkNotOver(closesOn: string | null | undefined, now = Date.now()): void {
  const min = new Date(now + koreanOffset).toISOString().slice(0, 10);
  if (closesOn == null || closesOn >= min) return;
  const text = {
    ko: `오늘(${min})이나 그 뒤의 날짜여야 합니다.`,
    en: `Must be today (${min} in Korea) or later.`,
  };
  throw invalidFields([{ field: 'closes_on', code: 'too_small', text, params: { min } }]);
}
