import type { Database } from '../database/client.ts';
import type { Language, MailTopic } from '../database/generated/enums.ts';
import { sql } from '../database/sql.ts';

/** How a user wants to get mails. */
export interface PreferencesRow {
  language: Language;
  muted_mails: MailTopic[];
}

export type Preferences = ReturnType<typeof createPreferencesRepository>;

/** Preferences about mails, which are columns of the account. */
export function createPreferencesRepository(database: Database) {
  /** @returns undefined when the account is gone */
  async function find(userId: number): Promise<PreferencesRow | undefined> {
    const [row] = await database.query<PreferencesRow>(sql`
      SELECT language, muted_mails::text[] AS muted_mails FROM users WHERE id = ${userId}`);
    return row;
  }

  /**
   * Changes what is given, in one statement, so that concurrent changes of different preferences all count. A language that was
   * chosen here is no longer changed by a login.
   *
   * @returns undefined when the account is gone
   */
  async function change(
    userId: number,
    { language = null, on, off }: { language?: Language | null; on: MailTopic[]; off: MailTopic[] },
  ): Promise<PreferencesRow | undefined> {
    const [row] = await database.query<PreferencesRow>(sql`
      UPDATE users SET language = coalesce(${language}::language, language),
        has_chosen_language = has_chosen_language OR ${language}::language IS NOT NULL,
        muted_mails = ARRAY(
          SELECT unnest(muted_mails) EXCEPT SELECT unnest(${on}::mail_topic[])
          UNION SELECT unnest(${off}::mail_topic[]))
      WHERE id = ${userId} RETURNING language, muted_mails::text[] AS muted_mails`);
    return row;
  }

  return { find, change };
}
