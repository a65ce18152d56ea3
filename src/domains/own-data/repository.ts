import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { secondsUntilDayAfter } from '../../infrastructure/database/daily-quota.ts';
import { empty, join, raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import type { Row, Section } from './sections.ts';

const downloadsPerDay = 5;
const period = sql`interval '24 hours'`;

/** Counts of downloads whose 24 hours are over. */
export const expiredDataDownloads: ExpiredRows = {
  table: 'data_downloads',
  condition: sql`since < now() - ${period}`,
};

export type OwnDataRepository = ReturnType<typeof createOwnDataRepository>;

/** What the service has about a user. */
export function createOwnDataRepository(database: Database) {
  return {
    /** Counts a download. @returns the seconds until one may be counted, 0 where this one was; undefined for an account that is gone */
    async countDownload(userId: number): Promise<number | undefined> {
      const isOver = sql`d.since < now() - ${period}`;
      const counted = await database.execute(sql`
        INSERT INTO data_downloads AS d (user_id) SELECT id FROM users WHERE id = ${userId} FOR KEY SHARE
        ON CONFLICT (user_id) DO UPDATE SET
          since = CASE WHEN ${isOver} THEN now() ELSE d.since END,
          downloads = CASE WHEN ${isOver} THEN 1 ELSE d.downloads + 1 END
        WHERE ${isOver} OR d.downloads < ${downloadsPerDay}`);
      if (counted > 0) return 0;
      const row = await database.prisma.dataDownloads.findFirst({ where: { userId } });
      // At least 1, where the 24 hours ended just now.
      return row ? Math.max(1, secondsUntilDayAfter(row.since)) : undefined;
    },

    /** The rows of a section, by pages that are not empty. */
    async *readPages({ rows: select, pages }: Section, userId: number): AsyncGenerator<Row[]> {
      for (let last: Row | undefined, isFull = true; isFull; ) {
        const rows = await database.query(sql`${select(userId)} ${pages ? page(pages, last) : empty}`);
        if (rows.length > 0) yield rows;
        isFull = rows.length === pages?.size;
        last = rows.at(-1);
      }
    },
  };
}

/** SQL of the page after a row; of the first one without a row. */
function page({ key, size }: NonNullable<Section['pages']>, last: Row | undefined): Sql {
  const columns = raw(key.join(', '));
  const after = last ? sql`AND (${columns}) > (${join(key.map((name) => last[name]))})` : empty;
  return sql`${after} ORDER BY ${columns} LIMIT ${raw(String(size))}`;
}
