import type { Config } from '../../config/config.ts';
import type { Connection } from '../../database/client.ts';
import type { MailPurpose } from '../../database/generated/enums.ts';

/** So many mails of one purpose go to one address in an hour. */
const maxPerHour = 5;
const hour = 3600;

/** Whether a mail may go out now, and when the next one may. */
export interface SendPermit {
  allowed: boolean;
  /** Seconds, rounded up. */
  resendAfter: number;
}

export type MailSends = ReturnType<typeof createMailSendRepository>;

/** Cooldown and hourly cap of mails that anybody can ask for. They hold for every address alike, known or not. */
export function createMailSendRepository({ cooldown }: Config['email']) {
  /**
   * Asks to send a mail now and, if it may go out, counts it. The lock of the row puts parallel requests in a row: one of
   * them sends. It is held until the transaction ends.
   */
  async function request(transaction: Connection, purpose: MailPurpose, email: string): Promise<SendPermit> {
    await transaction.$executeRaw`
      INSERT INTO mail_sends (purpose, email, sent_at) VALUES (${purpose}::mail_purpose, ${email}, '{}')
      ON CONFLICT DO NOTHING`;
    const [row] = await transaction.$queryRaw<{ ages: number[] }[]>`
      SELECT ARRAY(SELECT extract(epoch FROM clock_timestamp() - t)::float8 FROM unnest(sent_at) t) AS ages
      FROM mail_sends WHERE purpose = ${purpose}::mail_purpose AND email = ${email} FOR UPDATE`;
    const recent = recentAges(row?.ages);
    const wait = waitFor(recent, cooldown);
    if (wait > 0) return { allowed: false, resendAfter: Math.ceil(wait) };
    await transaction.$executeRaw`
      UPDATE mail_sends SET updated_at = clock_timestamp(),
        sent_at = ARRAY(SELECT t FROM unnest(sent_at) t WHERE t > clock_timestamp() - make_interval(secs => ${hour}))
          || clock_timestamp()
      WHERE purpose = ${purpose}::mail_purpose AND email = ${email}`;
    return { allowed: true, resendAfter: Math.ceil(waitFor([0, ...recent], cooldown)) };
  }

  /** Seconds until a mail may go out again; 0 when it may now. Counts nothing. */
  async function wait(connection: Connection, purpose: MailPurpose, email: string): Promise<number> {
    const [row] = await connection.$queryRaw<{ ages: number[] }[]>`
      SELECT ARRAY(SELECT extract(epoch FROM clock_timestamp() - t)::float8 FROM unnest(sent_at) t) AS ages
      FROM mail_sends WHERE purpose = ${purpose}::mail_purpose AND email = ${email}`;
    const recent = recentAges(row?.ages);
    return Math.max(0, waitFor(recent, cooldown));
  }

  return { request, wait };
}

/** Seconds since each mail of the last hour, newest first. After the clock was set back, a mail is as new as can be. */
function recentAges(ages: number[] = []): number[] {
  return ages
    .map((age) => Math.max(0, age))
    .filter((age) => age < hour)
    .sort((a, b) => a - b);
}

/** @param ages seconds since each mail of the last hour, newest first */
function waitFor(ages: number[], cooldown: number): number {
  const newest = ages[0];
  const oldestOfCap = ages[maxPerHour - 1];
  return Math.max(
    newest === undefined ? 0 : cooldown - newest,
    oldestOfCap === undefined ? 0 : hour - oldestOfCap,
  );
}
