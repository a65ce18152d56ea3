import type { Test } from 'tap';
import type { TestApp } from '../support/app.ts';
import { createPushService, type PushAnswer } from '../support/push-service.ts';
import { until } from '../support/until.ts';

const path = '/api/v1/notifications/push/';

type Caller = { token: string | undefined };

/** Calls of the operations about push messages, and browsers of users at a push service that ends with the test. */
export async function pushesOf(t: Test, app: TestApp) {
  const service = await createPushService(t);
  const add = ({ token }: Caller, body: unknown, headers: Record<string, string> = {}) =>
    app.call('POST', `${path}subscriptions/`, { token, body, headers });
  const readSubscription = async (id: number) =>
    (await app.pool.query('SELECT * FROM push_subscriptions WHERE id = $1', [id])).rows[0];
  return {
    service,
    add,
    readSubscription,
    key: ({ token }: Caller) => app.call('GET', `${path}key/`, { token }),
    list: ({ token }: Caller, query = '') => app.call('GET', `${path}subscriptions/${query}`, { token }),
    remove: ({ token }: Caller, id: number | string) =>
      app.call('DELETE', `${path}subscriptions/${id}/`, { token }),

    /** Subscribes a browser of a user. */
    async subscribe(user: Caller, answer?: PushAnswer) {
      const browser = service.subscribe(answer);
      const response = await add(user, browser.subscription);
      if (response.status !== 201) throw new Error(`no subscription: ${response.text}`);
      return Object.assign(browser, { id: response.body.data.id as number });
    },

    /** Waits until nothing is to be sent now. @returns the jobs that wait for a later time */
    async settled() {
      await until('no push message is due', async () => {
        const { rows } = await app.pool.query(
          `SELECT FROM outbox UNION ALL
           SELECT FROM graphile_worker.jobs WHERE task_identifier = 'send_push' AND (run_at <= now() OR locked_at IS NOT NULL)`,
        );
        return rows.length === 0;
      });
      const { rows } = await app.pool.query(
        `SELECT j.payload, j.run_at, j.attempts, j.priority FROM graphile_worker._private_jobs j
         JOIN graphile_worker._private_tasks t ON t.id = j.task_id WHERE t.identifier = 'send_push' ORDER BY j.id`,
      );
      return rows;
    },

    /** Makes waiting messages and their subscriptions due, and wakes the workers. */
    async makeDue() {
      await app.pool.query('UPDATE push_subscriptions SET retry_at = now() WHERE retry_at IS NOT NULL');
      await app.pool.query('UPDATE graphile_worker._private_jobs SET run_at = now() WHERE locked_at IS NULL');
      await app.pool.query(`NOTIFY "jobs:insert", '{"count":16}'`);
    },
  };
}
