import type { Config } from '../config/config.ts';
import type { ExpiredRows } from '../database/clean-up.ts';
import type { Database } from '../database/client.ts';
import type { MailPurpose, MailTopic } from '../database/generated/enums.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Mails of a purpose to one address within {@link capSeconds}. */
const maxPerHour: Record<MailPurpose, number> = {
  email_verify: 5,
  reset_password: 5,
  find_id: 5,
  partner_request: 60,
  notice: 5,
  // Apart from other notices, because this one carries the link with which an owner gets a taken account back.
  email_change: 5,
};
const capSeconds = 3600;

/** Mails that anyone can request for any address. They have a cooldown, too. */
type RequestedPurpose = 'email_verify' | 'reset_password' | 'find_id';

/** Mails that the recipient did not request. */
export type UnrequestedPurpose = Exclude<MailPurpose, RequestedPurpose>;

/** Sends that no longer count towards a cap. */
export const expiredMailSends: ExpiredRows = {
  table: 'mail_sends',
  condition: sql`updated_at < now() - make_interval(secs => ${capSeconds})`,
};

export type MailSends = ReturnType<typeof createMailSends>;

/**
 * Cooldown and hourly cap of mails that anyone can request. They apply to every address alike, known or not. SQL, because the
 * times are those of the database and a row is locked until the transaction ends.
 */
export function createMailSends({ cooldown }: Config['email']) {
  /**
   * Asks for permission to send a mail now and counts it if it is allowed. The row lock, which lasts until the transaction
   * ends, serialises concurrent requests: one of them sends.
   *
   * @returns whether the mail may be sent, and the whole seconds until the next one may
   */
  async function request(tx: Database, purpose: RequestedPurpose, email: string) {
    await tx.execute(sql`
      INSERT INTO mail_sends (purpose, email, sent_at) VALUES (${purpose}::mail_purpose, ${email}, '{}')
      ON CONFLICT DO NOTHING`);
    const [row] = await tx.query<AgesRow>(sql`${selectAges(purpose, email)} FOR UPDATE`);
    const recent = row?.ages ?? [];
    const seconds = secondsToWait(purpose, recent, cooldown);
    if (seconds > 0) return { allowed: false, resendAfter: Math.ceil(seconds) };
    await tx.execute(sql`
      UPDATE mail_sends SET updated_at = clock_timestamp(), sent_at = ${recentSends} || clock_timestamp()
      WHERE purpose = ${purpose}::mail_purpose AND email = ${email}`);
    return { allowed: true, resendAfter: Math.ceil(secondsToWait(purpose, [0, ...recent], cooldown)) };
  }

  /** Counts a mail that is sent whatever the cooldown and the cap say, so that later requests wait for both. */
  async function record(tx: Database, purpose: RequestedPurpose, email: string): Promise<void> {
    await tx.execute(sql`
      INSERT INTO mail_sends (purpose, email, sent_at)
      VALUES (${purpose}::mail_purpose, ${email}, ARRAY[clock_timestamp()])
      ON CONFLICT (purpose, email) DO UPDATE
        SET updated_at = clock_timestamp(), sent_at = ${newestSends(purpose)} || clock_timestamp()`);
  }

  /** Seconds until a mail may be sent again; 0 when it may be sent now. Counts nothing. */
  async function wait(connection: Database, purpose: RequestedPurpose, email: string): Promise<number> {
    const [row] = await connection.query<AgesRow>(selectAges(purpose, email));
    return Math.max(0, secondsToWait(purpose, row?.ages ?? [], cooldown));
  }

  /** Lets the cap of an address start again, because its owner has acted on the last mail. */
  async function forget(tx: Database, purpose: UnrequestedPurpose, email: string): Promise<void> {
    await tx.prisma.mailSend.deleteMany({ where: { purpose, email } });
  }

  return { request, record, wait, forget };
}

/**
 * A statement that counts a mail to an account if it may be sent: the address is verified, the account is not suspended, its
 * user has not switched the topic off, and the cap of the address allows it. It returns a row in that case only. Concurrent
 * transactions wait at the row of the address until this one ends, so that they cannot exceed the cap together.
 */
export function countUnrequestedSend(
  purpose: UnrequestedPurpose,
  userId: number,
  topic: MailTopic | undefined,
): Sql {
  return sql`
    INSERT INTO mail_sends (purpose, email, sent_at)
    SELECT ${purpose}::mail_purpose, email, ARRAY[clock_timestamp()] FROM users
    WHERE id = ${userId} AND is_verified AND suspended_at IS NULL
      AND (${topic ?? null}::mail_topic = ANY (muted_mails)) IS NOT TRUE
    ON CONFLICT (purpose, email) DO UPDATE
      SET updated_at = clock_timestamp(), sent_at = ${recentSends} || clock_timestamp()
      WHERE cardinality(${recentSends}) < ${maxPerHour[purpose]}
    RETURNING email`;
}

/** The sends of a row that count towards the cap. */
const recentSends = sql`ARRAY(
  SELECT t FROM unnest(mail_sends.sent_at) t WHERE t > clock_timestamp() - make_interval(secs => ${capSeconds}))`;

/** The newest sends of a row, one less than the cap, so that another one fits. */
const newestSends = (purpose: MailPurpose) => sql`ARRAY(
  SELECT t FROM (
    SELECT t FROM unnest(${recentSends}) t ORDER BY t DESC LIMIT ${maxPerHour[purpose] - 1}
  ) newest ORDER BY t)`;

interface AgesRow {
  /** Seconds since each mail of the last hour, newest first. */
  ages: number[];
}

function selectAges(purpose: MailPurpose, email: string): Sql {
  // A mail that seems to be of the future, after the clock was set back, has the age 0.
  return sql`
    SELECT ARRAY(
      SELECT greatest(0, extract(epoch FROM clock_timestamp() - t))::float8 AS age FROM unnest(sent_at) t
      WHERE t > clock_timestamp() - make_interval(secs => ${capSeconds}) ORDER BY age
    ) AS ages
    FROM mail_sends WHERE purpose = ${purpose}::mail_purpose AND email = ${email}`;
}

/** @param ages seconds since each mail of the last hour, newest first */
function secondsToWait(purpose: MailPurpose, ages: number[], cooldown: number): number {
  const newest = ages[0];
  const oldestOfCap = ages[maxPerHour[purpose] - 1];
  return Math.max(
    newest === undefined ? 0 : cooldown - newest,
    oldestOfCap === undefined ? 0 : capSeconds - oldestOfCap,
  );
}
