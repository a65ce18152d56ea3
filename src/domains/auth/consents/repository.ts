import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { countOfUser } from '../../../infrastructure/database/daily-quota.ts';
import type { Consent } from '../../../infrastructure/database/generated/client.ts';
import { lockRow } from '../../../infrastructure/database/locks.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';

export type Answer = Pick<Consent, 'kind' | 'action' | 'version'>;
type AnswerRow = Answer & Pick<Consent, 'createdAt'> & { id: number };

const askedAtOnce = 100;
/** Of one user in 24 hours: answers are kept as long as the account. */
const changesPerDay = 50;

/** A month before two years have passed. */
function isDue() {
  const asked = new Date();
  asked.setUTCMonth(asked.getUTCMonth() - 23);
  return { isVerified: true, suspendedAt: null, marketingAskedAt: { lt: asked } };
}

/** The answers of users, of which none is ever changed. Those of one user are added while the account is locked. */
export function createConsentRepository(database: Database, mailQueue: MailQueue) {
  /** The latest row of each kind and action, oldest first, however many there are. */
  function latest(tx: Tx, userId: number): Promise<AnswerRow[]> {
    return tx.query<AnswerRow>(sql`/* auth.listConsents */
      SELECT c.* FROM unnest(enum_range(NULL::consent_kind)) k, unnest(enum_range(NULL::consent_action)) a,
        LATERAL (
          SELECT id, kind, action, version, created_at AS "createdAt" FROM consents
          WHERE user_id = ${userId} AND kind = k AND action = a ORDER BY id DESC LIMIT 1
        ) c
      ORDER BY c.id`);
  }

  /** @param by whose answers they are, and the address of the client */
  async function record(tx: Tx, by: { userId: number; address: string }, answers: Answer[]): Promise<void> {
    const data = answers.map((answer) => ({ ...by, ...answer }));
    await tx.prisma.consent.createMany({ data });
  }

  /** Counts a change of answers. @returns undefined, or the seconds until one may be counted */
  const countChange = (tx: Tx, userId: number) =>
    countOfUser(tx, 'consent', { userId, quota: changesPerDay });

  /**
   * Part of the clean-up: asks users by email whether their marketing consent still stands, before two years have passed since they
   * gave it or were asked (Information and Communications Network Act, article 50 (8); Enforcement Decree, article 62-3). Yields
   * how many each step asked.
   */
  async function* askAgain(): AsyncGenerator<number, void> {
    for (let asked = askedAtOnce; asked > 0; yield asked) {
      const due = await database.prisma.user.findMany({
        where: isDue(),
        orderBy: { marketingAskedAt: 'asc' },
        take: askedAtOnce,
        select: { id: true },
      });
      asked = 0;
      for (const { id } of due) if (await ask(id)) asked++;
    }
  }

  /** The row and the email are one transaction, and the row lock lets one instance ask. @returns whether the user is asked */
  function ask(userId: number): Promise<boolean> {
    return database.transaction(async (tx) => {
      await lockRow(tx, 'users', userId, 'NO KEY UPDATE');
      const due = await tx.prisma.user.findFirst({ where: { id: userId, ...isDue() } });
      const given = await tx.prisma.consent.findFirst({
        where: { userId, kind: 'marketing', action: 'given' },
        orderBy: { id: 'desc' },
      });
      if (due === null || given === null) return false;
      const payload = { language: due.language, given_at: given.createdAt.getTime() };
      const mail = { kind: 'marketing_consent', userId, payload };
      if (!(await mailQueue.addUnrequested(tx, mail))) return false;
      await tx.prisma.consent.create({
        data: { userId, kind: 'marketing', action: 'asked', version: given.version },
      });
      return true;
    });
  }

  return { latest, countChange, record, askAgain };
}
