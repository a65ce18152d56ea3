import type { Config } from '../config/config.ts';
import type { ExpiredRows } from '../database/clean-up.ts';
import type { Tx } from '../database/client.ts';
import type { MailPurpose } from '../database/generated/enums.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { MailKinds } from './content.ts';

/** For which an email counts towards the cap of its purpose. */
const capSeconds = 3600;

/** Sends that no longer count towards a cap. */
export const expiredMailSends: ExpiredRows = {
  table: 'mail_sends',
  condition: sql`updated_at < now() - make_interval(secs => ${capSeconds})`,
  isScanned: true,
};

/**
 * Cooldown and hourly cap of emails that anyone can request, for every address alike, known or not. SQL, because the times are those
 * of the database and a row is locked.
 */
export function createMailSends({ cooldown }: Config['email'], kinds: MailKinds) {
  const caps = new Map(Object.values(kinds).map(({ cap }) => [cap?.purpose, cap?.perHour]));
  const maxPerHour = (purpose: MailPurpose) => caps.get(purpose) ?? 0;

  /**
   * Counts an email if it may be sent now. The row lock, until the transaction ends, lets one of concurrent requests send.
   *
   * @returns whether it may be sent, and the whole seconds until the next one may
   */
  async function request(tx: Tx, purpose: MailPurpose, email: string) {
    const counted = await tx.execute(sql`/* mails.countSend */
      ${countSend(purpose, email, recentSends)}
      WHERE cardinality(${recentSends}) < ${maxPerHour(purpose)} AND clock_timestamp() - make_interval(secs => ${cooldown}) >= ALL (mail_sends.sent_at)`);
    return { allowed: counted === 1, resendAfter: Math.ceil(await wait(tx, purpose, email)) };
  }

  /** Counts an email that is sent whatever the cooldown and the cap say, so that later requests wait for both. */
  async function record(tx: Tx, purpose: MailPurpose, email: string): Promise<void> {
    // The newest ones, one less than the cap, so that another one fits.
    const newest = sql`ARRAY(
      SELECT t FROM (
        SELECT t FROM unnest(${recentSends}) t ORDER BY t DESC LIMIT ${maxPerHour(purpose) - 1}
      ) newest ORDER BY t)`;
    await tx.execute(sql`/* mails.recordSend */ ${countSend(purpose, email, newest)}`);
  }

  /** Seconds until an email may be sent again; 0 when it may be sent now. Counts nothing. */
  async function wait(connection: Tx, purpose: MailPurpose, email: string): Promise<number> {
    // An email that seems to be of the future, after the clock was set back, has the age 0.
    const [row] = await connection.query<{ ages: number[] }>(sql`/* mails.ages */
      SELECT ARRAY(
        SELECT greatest(0, extract(epoch FROM clock_timestamp() - t))::float8 AS age
        FROM unnest(${recentSends}) t ORDER BY age
      ) AS ages
      FROM mail_sends WHERE purpose = ${purpose}::mail_purpose AND email = ${email}`);
    const newest = row?.ages[0] ?? Infinity;
    const oldestOfCap = row?.ages[maxPerHour(purpose) - 1] ?? Infinity;
    return Math.max(0, cooldown - newest, capSeconds - oldestOfCap);
  }

  /** Lets the cap of an address start again, because its owner has acted on the last email. */
  async function forget(tx: Tx, purpose: MailPurpose, email: string): Promise<void> {
    await tx.prisma.mailSend.deleteMany({ where: { purpose, email } });
  }

  return { request, record, wait, forget };
}

/** Adds a send to those that are kept of an address. */
function countSend(purpose: MailPurpose, email: string, kept: Sql): Sql {
  return sql`
    INSERT INTO mail_sends (purpose, email, sent_at)
    VALUES (${purpose}::mail_purpose, ${email}, ARRAY[clock_timestamp()])
    ON CONFLICT (purpose, email) DO UPDATE
      SET updated_at = clock_timestamp(), sent_at = ${kept} || clock_timestamp()`;
}

/** The sends of a row that count towards the cap. */
const recentSends = sql`ARRAY(
  SELECT t FROM unnest(mail_sends.sent_at) t WHERE t > clock_timestamp() - make_interval(secs => ${capSeconds}))`;
