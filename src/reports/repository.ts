import type { ExpiredRows } from '../database/clean-up.ts';
import type { Queryable } from '../database/client.ts';
import { lockQuotaSql, ofLastDay, quotaFullUntil, secondsUntilRoom } from '../database/daily-quota.ts';
import { afterId, afterTime, type PageRequest } from '../database/keyset.ts';
import { empty, raw, type Sql, sql } from '../database/sql.ts';
import { isOpenStore, storeSummarySql } from '../stores/sql.ts';
import type { NewReport, Report, ReportDecision } from './schemas.ts';

export interface ReportRow extends Omit<Report, 'target' | 'status' | 'created_at' | 'closed_at'> {
  created_at: Date;
  closed_at: Date | null;
}

/** What is reported. */
export interface Target {
  kind: 'post' | 'store';
  id: number;
}

/** Closed reports are kept for a year, and for as long as they hide something. */
export const expiredReports: ExpiredRows = {
  table: 'reports',
  condition: sql`
    closed_at < now() - interval '1 year' AND (action = 'none' OR NOT EXISTS (
      SELECT FROM posts p WHERE p.id = reports.post_id AND p.hidden_at IS NOT NULL
      UNION ALL
      SELECT FROM stores s WHERE s.id = reports.store_id AND s.hidden_at IS NOT NULL))`,
};

/** Reports of one user within any 24 hours, closed ones included. */
const reportsPerDay = 20;

/** When a user may report again; null while they may. */
function quotaUntil(userId: number): Sql {
  return quotaFullUntil(
    sql`SELECT created_at FROM reports WHERE reporter_id = ${userId} AND ${ofLastDay}`,
    reportsPerDay,
  );
}

const visiblePost = (id: number) => sql`
  SELECT p.id FROM posts p JOIN stores s ON s.id = p.store_id
  WHERE p.id = ${id} AND p.deleted_at IS NULL AND ${isOpenStore('s')}`;

const visibleStore = (id: number) => sql`
  SELECT s.id FROM stores s WHERE s.id = ${id} AND ${isOpenStore('s')}`;

function visible({ kind, id }: Target): Sql {
  return kind === 'post' ? visiblePost(id) : visibleStore(id);
}

const columnOf = ({ kind }: Target) => raw(kind === 'post' ? 'post_id' : 'store_id');

/** The report `r` as admins see it. What belongs to a report is selected one by one, because a join may read all rows. */
const columns = sql`
  r.id, r.reason, r.text, r.action, r.note, r.created_at, r.closed_at, r.closed_by,
  (SELECT json_build_object('id', p.id, 'title', p.title) FROM posts p WHERE p.id = r.post_id) AS post,
  (SELECT ${storeSummarySql} FROM stores s
   WHERE s.id = coalesce(r.store_id, (SELECT p.store_id FROM posts p WHERE p.id = r.post_id))) AS store,
  (SELECT json_build_object('id', u.id, 'username', u.username) FROM users u WHERE u.id = r.reporter_id) AS reporter`;

/** With and without a status it is another text, as each is read through an index of its own. */
function statusSql(status: Report['status'] | undefined): Sql {
  if (status === undefined) return empty;
  return status === 'open' ? sql`AND r.closed_at IS NULL` : sql`AND r.closed_at IS NOT NULL`;
}

/** Reports, and what becomes of their targets. */
export const reports = {
  /**
   * Saves a report about what its reporter can see. Waits for a concurrent deletion of the account. Of concurrent calls for one
   * target, one succeeds; for one user, the quota allows as many as of consecutive ones.
   *
   * @returns its id; undefined when the target is not found, an open report exists, the quota is used up, or the account is gone
   */
  async create(
    tx: Queryable,
    { userId, target, reason, text = '' }: NewReport & { userId: number; target: Target },
  ): Promise<number | undefined> {
    await tx.execute(sql`SELECT ${lockQuotaSql(sql`${userId}::int`, 'user')}`);
    const [created] = await tx.query<{ id: number }>(sql`
      INSERT INTO reports (reporter_id, ${columnOf(target)}, reason, text)
      (SELECT u.id, seen.id, ${reason}::report_reason, ${text} FROM users u CROSS JOIN (${visible(target)}) seen
       WHERE u.id = ${userId} AND ${quotaUntil(userId)} IS NULL FOR KEY SHARE OF u)
      ON CONFLICT DO NOTHING RETURNING id`);
    return created?.id;
  },

  async isVisible(tx: Queryable, target: Target): Promise<boolean> {
    return (await tx.query(visible(target))).length > 0;
  },

  async hasOpen(tx: Queryable, userId: number, target: Target): Promise<boolean> {
    const open = await tx.query(sql`
      SELECT id FROM reports
      WHERE reporter_id = ${userId} AND ${columnOf(target)} = ${target.id} AND closed_at IS NULL`);
    return open.length > 0;
  },

  /** How long a user has to wait for the next report. @returns undefined when the quota has room */
  secondsUntilRoom: (tx: Queryable, userId: number) => secondsUntilRoom(tx, quotaUntil(userId)),

  /** Newest first. */
  async list(
    tx: Queryable,
    { status, after, limit }: PageRequest & { status: Report['status'] | undefined },
  ): Promise<ReportRow[]> {
    return tx.query<ReportRow>(sql`
      SELECT ${columns} FROM reports r
      WHERE (r.created_at, r.id) < (${afterTime(after)}, ${afterId(after)}) ${statusSql(status)}
      ORDER BY r.created_at DESC, r.id DESC LIMIT ${limit}`);
  },

  async find(tx: Queryable, id: number): Promise<ReportRow | undefined> {
    const [row] = await tx.query<ReportRow>(sql`SELECT ${columns} FROM reports r WHERE r.id = ${id}`);
    return row;
  },

  /**
   * Locks the target of a report, so that decisions about it follow one another. The store of a post is locked before the post,
   * as by a deletion of the account, which deletes hidden posts, too.
   *
   * @returns undefined when there is no such report
   */
  async lockTarget(tx: Queryable, id: number): Promise<Target | undefined> {
    const [report] = await tx.query<{ post_id: number | null; store_id: number | null }>(sql`
      SELECT post_id, store_id FROM reports WHERE id = ${id}`);
    if (report === undefined) return undefined;
    const { post_id: postId, store_id: storeId } = report;
    if (storeId !== null) {
      await tx.execute(sql`SELECT FROM stores WHERE id = ${storeId} FOR NO KEY UPDATE`);
      return { kind: 'store', id: storeId };
    }
    if (postId === null) throw new Error('a report has a post or a store');
    await tx.execute(sql`
      SELECT FROM stores WHERE id = (SELECT store_id FROM posts WHERE id = ${postId}) FOR SHARE`);
    await tx.execute(sql`SELECT FROM posts WHERE id = ${postId} FOR NO KEY UPDATE`);
    return { kind: 'post', id: postId };
  },

  /** Closes a report, or decides anew. @returns whether it exists */
  async close(
    tx: Queryable,
    id: number,
    { action, note = '', closedBy }: ReportDecision & { closedBy: string },
  ): Promise<boolean> {
    const closed = await tx.execute(sql`
      UPDATE reports SET action = ${action}::report_action, note = ${note}, closed_by = ${closedBy},
        closed_at = coalesce(closed_at, now())
      WHERE id = ${id}`);
    return closed > 0;
  },

  /**
   * Hides a target that a closed report hides, and shows it again where none does any more. The target must be locked. A post
   * that its author has deleted stays deleted.
   */
  async applyDecisions(tx: Queryable, target: Target): Promise<void> {
    const { id } = target;
    const isHidden = sql`EXISTS (SELECT FROM reports WHERE ${columnOf(target)} = ${id} AND action = 'hide')`;
    if (target.kind === 'store') {
      // A trigger keeps `suspended_at`, which readers look at.
      await tx.execute(sql`
        UPDATE stores SET hidden_at = CASE WHEN ${isHidden} THEN coalesce(hidden_at, now()) END
        WHERE id = ${id} AND closed_at IS NULL AND (hidden_at IS NOT NULL) <> ${isHidden}`);
    } else {
      await tx.execute(sql`
        UPDATE posts SET
          hidden_at = CASE WHEN ${isHidden} THEN now() END,
          deleted_at = CASE WHEN ${isHidden} THEN now() END
        WHERE id = ${id} AND (deleted_at IS NULL OR hidden_at IS NOT NULL) AND (hidden_at IS NOT NULL) <> ${isHidden}`);
    }
  },
};
