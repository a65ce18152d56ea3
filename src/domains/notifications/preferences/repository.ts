import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { User } from '../../../infrastructure/database/generated/client.ts';
import {
  type Language,
  MailTopic,
  NotificationKind,
} from '../../../infrastructure/database/generated/enums.ts';
import { raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { MailPayload } from '../../../infrastructure/mail/queue.ts';
import { koreanOffset } from '../../../infrastructure/times.ts';
import type { MailPreferenceChanges, MailPreferences } from './schemas.ts';

export type PreferencesRow = Pick<User, keyof typeof columns>;

const columns = {
  language: true,
  mutedMails: true,
  mutedPushes: true,
  quietFrom: true,
  quietTo: true,
} as const;

type QuietHours = NonNullable<MailPreferences['quiet_hours']>;
/** A message about a topic, its recipient, and the job that sends it. */
type Message = { channel: 'email' | 'push'; userId: number; topic: MailTopic; jobId: string };
/** What a job is to do about its message: send it, in the language of the recipient, or end, because it waits in another job. */
type Delivery = { language: Language } | { until: Date };

export type Preferences = ReturnType<typeof createPreferencesRepository>;
/** How users want to get emails and push messages, which is in columns of the account. */
export function createPreferencesRepository(database: Database) {
  const find = (userId: number) => database.prisma.user.findFirst({ where: { id: userId }, select: columns });

  /** Changes what is given in one statement, so that concurrent changes all count. A language that was chosen here stays. */
  async function change(userId: number, changes: MailPreferenceChanges): Promise<PreferencesRow | null> {
    const { language = null, email = {}, push = {}, quiet_hours: hours } = changes;
    const keepsHours = hours === undefined;
    await database.transaction(async (tx) => {
      await tx.execute(sql`/* notifications.changePreferences */
        UPDATE users SET language = coalesce(${language}::language, language),
          has_chosen_language = has_chosen_language OR ${language}::language IS NOT NULL,
          muted_mails = ${muted(sql`muted_mails`, email)},
          muted_pushes = ${muted(sql`muted_pushes`, push)},
          quiet_from = CASE WHEN ${keepsHours} THEN quiet_from ELSE ${hours?.from ?? null} END,
          quiet_to = CASE WHEN ${keepsHours} THEN quiet_to ELSE ${hours?.to ?? null} END
        WHERE id = ${userId}`);
      if (!keepsHours) await wakeWaiting(tx, userId);
    });
    return find(userId);
  }

  /**
   * Decides about the message of a running job. Within the recipient's quiet hours, the job is added again for their end, as if it had
   * not run yet, with `is_deferred` in its payload; if the worker dies then, the job that runs again replaces the one that it added.
   *
   * @returns undefined when the recipient does not get it: suspended, deleted, or the topic is switched off
   * @throws Error when the quiet hours are changed at the same time
   */
  async function decideDelivery({ jobId, userId, ...message }: Message): Promise<Delivery | undefined> {
    const [user] = await database.query<{ language: Language; hours: QuietHours | null; now: Date }>(sql`
      /* notifications.findDelivery */ SELECT language, clock_timestamp() AS now,
        CASE WHEN quiet_from IS NOT NULL THEN json_build_object('from', quiet_from, 'to', quiet_to) END AS hours
      FROM users WHERE id = ${userId} AND suspended_at IS NULL AND ${wants(message)}`);
    if (user === undefined) return undefined;
    const { language, hours, now } = user;
    const until = quietUntil(now, hours);
    if (until === undefined) return { language };
    // A change of the hours waits for the lock and then finds the job, or comes first, so that there is no recipient.
    const added = await database.execute(sql`/* notifications.defer */
      WITH recipient AS MATERIALIZED (
        SELECT id FROM users
        WHERE id = ${userId} AND quiet_from = ${hours?.from} AND quiet_to = ${hours?.to} FOR SHARE
      )
      SELECT FROM recipient, graphile_worker._private_jobs j
        JOIN graphile_worker._private_tasks t ON t.id = j.task_id,
        graphile_worker.add_job(t.identifier, (j.payload::jsonb || '{"is_deferred": 1}')::json,
          job_key => ${waitingKey(sql`recipient.id`)} || j.id, run_at => ${until}::timestamptz,
          max_attempts => j.max_attempts::int, priority => j.priority::int)
      WHERE j.id = ${jobId}::bigint`);
    if (added === 0) throw new Error('the quiet hours were changed meanwhile');
    return { until };
  }

  /** Whether the notification that an email is about has not been read. */
  async function isUnread(userId: number, kind: string, payload: MailPayload): Promise<boolean> {
    const kinds = Object.values(NotificationKind).filter((one) => one === kind);
    const idOf = (name: string) => (payload[name] === undefined ? null : BigInt(payload[name]));
    const newest = await database.prisma.notification.findFirst({
      where: { userId, kind: { in: kinds }, partnerRequestId: idOf('request_id'), postId: idOf('post_id') },
      orderBy: { id: 'desc' },
      select: { isRead: true },
    });
    return newest?.isRead === false;
  }

  return { find, change, decideDelivery, isUnread };
}

/** The topics of a column, less those that are switched on, and those that are switched off. */
function muted(column: Sql, switches: Partial<Record<MailTopic, boolean>>): Sql {
  const that = (isOn: boolean) => Object.values(MailTopic).filter((topic) => switches[topic] === isOn);
  return sql`ARRAY(
    SELECT unnest(${column}) EXCEPT SELECT unnest(${that(true)}::mail_topic[])
    UNION SELECT unnest(${that(false)}::mail_topic[]))`;
}

/** A condition on a row of `users`: that the user gets messages about a topic. */
const wants = ({ channel, topic }: Pick<Message, 'channel' | 'topic'>) =>
  sql`${topic}::mail_topic <> ALL (${raw(channel === 'push' ? 'muted_pushes' : 'muted_mails')})`;

/** Makes the messages due that wait for the end of a user's quiet hours: after a change of these, in its transaction. */
async function wakeWaiting(tx: Tx, userId: number): Promise<void> {
  const prefix = waitingKey(sql`${userId}::int`);
  // A range of the index has all of them, whatever the collation of the database is, and may have others.
  await tx.execute(sql`/* notifications.wakeWaiting */
    SELECT FROM graphile_worker.reschedule_jobs(
      ARRAY(SELECT id FROM graphile_worker._private_jobs
        WHERE key BETWEEN ${prefix} AND ${prefix} || 'z' AND starts_with(key, ${prefix})),
      run_at => now())`);
}

const waitingKey = (userId: Sql) => sql`'waiting:' || ${userId} || ':'`;

const minute = 60_000;
const day = 24 * 60 * minute;

/** When the quiet hours that a moment is within end, with `from` as their first moment; undefined outside them. */
export function quietUntil(now: Date, hours: QuietHours | null): Date | undefined {
  if (hours === null) return undefined;
  const from = timeOfDay(hours.from);
  const length = (timeOfDay(hours.to) - from + day) % day;
  const elapsed = (((now.getTime() + koreanOffset) % day) - from + day) % day;
  return elapsed < length ? new Date(now.getTime() + length - elapsed) : undefined;
}

const timeOfDay = (time: string) => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minute;
