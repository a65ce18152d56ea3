import type { TestApp } from '../support/app.ts';
import { countRows } from '../support/rows.ts';
import { until } from '../support/until.ts';

type Caller = { token: string };

const savedSearchesPath = '/api/v1/saved-searches/';

export const today = "(now() AT TIME ZONE 'Asia/Seoul')::date";

/** Saved searches of the users of an app. */
export function savedSearchesIn(app: TestApp) {
  const { call, pool } = app;
  const save = ({ token }: Caller, body: object) => call('POST', savedSearchesPath, { token, body });

  /** Waits until no post waits to be matched. */
  const matched = () =>
    until('all posts were matched', async () => {
      const jobs = "SELECT FROM graphile_worker.jobs WHERE task_identifier = 'match_saved_searches'";
      return (await countRows(app, `outbox WHERE job IS NOT NULL UNION ALL ${jobs}`)) === 0;
    });

  return {
    save,
    list: ({ token }: Caller, query = '') => call('GET', `${savedSearchesPath}${query}`, { token }),
    remove: ({ token }: Caller, id: number) => call('DELETE', `${savedSearchesPath}${id}/`, { token }),

    /** Saves a search. @returns its id @throws when it is rejected */
    async search(user: Caller, filters: object): Promise<number> {
      const { status, body, text } = await save(user, { name: '내 검색', ...filters });
      if (status !== 201) throw new Error(`the search was not saved: ${text}`);
      return body.data.id;
    },

    matched,

    /** Begins a day of a user that lasts over midnight, as after a transaction that began tomorrow. */
    pinDay: (userId: number, matches = 0) =>
      pool.query(
        `INSERT INTO notification_counts (user_id, unread, match_day, matches) VALUES ($1, 0, ${today} + 1, $2)
         ON CONFLICT (user_id) DO UPDATE SET match_day = excluded.match_day, matches = excluded.matches`,
        [userId, matches],
      ),

    /** Runs a job that has no payload, such as the one that sends the digests. */
    async run(task: string): Promise<void> {
      await pool.query('SELECT graphile_worker.add_job($1)', [task]);
      const jobs = 'graphile_worker.jobs WHERE task_identifier = $1';
      await until(task, async () => (await countRows(app, jobs, task)) === 0);
    },

    /** Matches a post again, as the worker does when the job of the post ran before. */
    matchAgain: ({ id }: { id: number }) =>
      pool.query(
        `SELECT graphile_worker.add_job('match_saved_searches', json_build_object('post_id', $1::bigint))`,
        [id],
      ),

    /** The ids of posts of which users were notified, with those of the searches: by user, each user's oldest first. */
    async matchesOf(...users: { id: number }[]): Promise<[number, number][][]> {
      const { rows } = await pool.query<{ userId: number; postId: number; searchId: number }>(
        `SELECT user_id AS "userId", post_id AS "postId", saved_search_id AS "searchId" FROM notifications
         WHERE kind = 'saved_search_match' AND user_id = ANY ($1) ORDER BY id`,
        [users.map(({ id }) => id)],
      );
      return users.map(({ id }) =>
        rows.flatMap(({ userId, postId, searchId }): [number, number][] =>
          userId === id ? [[postId, searchId]] : [],
        ),
      );
    },
  };
}
