import type { Database } from '../../../infrastructure/database/client.ts';
import type { User } from '../../../infrastructure/database/generated/client.ts';
import type { Language, MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { sql } from '../../../infrastructure/database/sql.ts';

/** How a user wants to get emails. */
export type PreferencesRow = Pick<User, 'language' | 'mutedMails'>;

export type Preferences = ReturnType<typeof createPreferencesRepository>;

/** Preferences about emails, which are columns of the account. */
export function createPreferencesRepository(database: Database) {
  /** @returns null when the account is gone */
  function find(userId: number): Promise<PreferencesRow | null> {
    const select = { language: true, mutedMails: true } as const;
    return database.prisma.user.findUnique({ where: { id: userId }, select });
  }

  /**
   * Changes what is given, in one statement, so that concurrent changes of different preferences all count. A login no longer
   * changes a language that was chosen here.
   *
   * @returns null when the account is gone
   */
  async function change(
    userId: number,
    { language = null, on, off }: { language?: Language | null; on: MailTopic[]; off: MailTopic[] },
  ): Promise<PreferencesRow | null> {
    const [row] = await database.query<PreferencesRow>(sql`
      UPDATE users SET language = coalesce(${language}::language, language),
        has_chosen_language = has_chosen_language OR ${language}::language IS NOT NULL,
        muted_mails = ARRAY(
          SELECT unnest(muted_mails) EXCEPT SELECT unnest(${on}::mail_topic[])
          UNION SELECT unnest(${off}::mail_topic[]))
      WHERE id = ${userId} RETURNING language, muted_mails::text[] AS "mutedMails"`);
    return row ?? null;
  }

  return { find, change };
}
