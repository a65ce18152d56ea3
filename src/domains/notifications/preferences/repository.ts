import type { Database } from '../../../infrastructure/database/client.ts';
import type { User } from '../../../infrastructure/database/generated/client.ts';
import { MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';
import { wakeWaiting } from '../../../infrastructure/quiet-hours.ts';
import type { MailPreferenceChanges } from './schemas.ts';

export type PreferencesRow = Pick<User, keyof typeof columns>;

const columns = {
  language: true,
  mutedMails: true,
  hasMatchMails: true,
  mutedPushes: true,
  quietFrom: true,
  quietTo: true,
} as const;

export type Preferences = ReturnType<typeof createPreferencesRepository>;

/** How users want to get emails and push messages, which is in columns of the account; null when it is gone. */
export function createPreferencesRepository(database: Database) {
  function find(userId: number): Promise<PreferencesRow | null> {
    return database.prisma.user.findFirst({ where: { id: userId }, select: columns });
  }

  /**
   * Changes what is given, in one statement, so that concurrent changes of different preferences all count. A login no longer
   * changes a language that was chosen here.
   */
  async function change(userId: number, changes: MailPreferenceChanges): Promise<PreferencesRow | null> {
    const { language = null, email = {}, push = {}, quiet_hours: hours } = changes;
    const { saved_search_match: matchMails = null, ...mails } = email;
    const keepsHours = hours === undefined;
    await database.transaction(async (tx) => {
      await tx.execute(sql`
        UPDATE users SET language = coalesce(${language}::language, language),
          has_chosen_language = has_chosen_language OR ${language}::language IS NOT NULL,
          has_match_mails = coalesce(${matchMails}, has_match_mails),
          muted_mails = ${muted(sql`muted_mails`, mails)},
          muted_pushes = ${muted(sql`muted_pushes`, push)},
          quiet_from = CASE WHEN ${keepsHours} THEN quiet_from ELSE ${hours?.from ?? null} END,
          quiet_to = CASE WHEN ${keepsHours} THEN quiet_to ELSE ${hours?.to ?? null} END
        WHERE id = ${userId}`);
      if (!keepsHours) await wakeWaiting(tx, userId);
    });
    return find(userId);
  }

  return { find, change };
}

/** The topics of a column, less those that are switched on, and those that are switched off. */
function muted(column: Sql, switches: Partial<Record<MailTopic, boolean>>): Sql {
  const that = (isOn: boolean) => Object.values(MailTopic).filter((topic) => switches[topic] === isOn);
  return sql`ARRAY(
    SELECT unnest(${column}) EXCEPT SELECT unnest(${that(true)}::mail_topic[])
    UNION SELECT unnest(${that(false)}::mail_topic[]))`;
}
