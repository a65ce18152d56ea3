import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { currentUser, requireUser, tokenNotValid } from '../../../http/authentication.ts';
import { Ref } from '../../../http/schemas.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import type { User } from '../../../infrastructure/database/generated/client.ts';
import { type Language, MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import type { UnsubscribeLinks } from '../../../infrastructure/mail/unsubscribe-links.ts';
import { MailPreferenceChanges, MailPreferences } from './schemas.ts';
import { unsubscribeRoutes } from './unsubscribe.ts';

export function createPreferences(options: { database: Database; unsubscribeLinks: UnsubscribeLinks }) {
  const preferences = createPreferencesRepository(options.database);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(preferenceRoutes, { preferences });
    await scope.register(unsubscribeRoutes, { preferences, unsubscribeLinks: options.unsubscribeLinks });
  }

  return { routes };
}

type PreferencesRow = Pick<User, 'language' | 'mutedMails' | 'hasMatchMails'>;

export type Preferences = ReturnType<typeof createPreferencesRepository>;

/** How users want to get emails, which is in columns of the account; null when it is gone. */
function createPreferencesRepository(database: Database) {
  function find(userId: number): Promise<PreferencesRow | null> {
    const select = { language: true, mutedMails: true, hasMatchMails: true } as const;
    return database.prisma.user.findUnique({ where: { id: userId }, select });
  }

  /**
   * Changes what is given, in one statement, so that concurrent changes of different preferences all count. A login no longer
   * changes a language that was chosen here.
   */
  async function change(userId: number, changes: MailPreferenceChanges): Promise<PreferencesRow | null> {
    const { language = null, email = {} } = changes;
    const topics = Object.values(MailTopic).filter((topic) => topic !== 'saved_search_match');
    const on = topics.filter((topic) => email[topic] === true);
    const off = topics.filter((topic) => email[topic] === false);
    const [row] = await database.query<PreferencesRow>(sql`
      UPDATE users SET language = coalesce(${language}::language, language),
        has_chosen_language = has_chosen_language OR ${language}::language IS NOT NULL,
        has_match_mails = coalesce(${email.saved_search_match ?? null}, has_match_mails),
        muted_mails = ARRAY(
          SELECT unnest(muted_mails) EXCEPT SELECT unnest(${on}::mail_topic[])
          UNION SELECT unnest(${off}::mail_topic[]))
      WHERE id = ${userId} RETURNING language, muted_mails::text[] AS "mutedMails",
        has_match_mails AS "hasMatchMails"`);
    return row ?? null;
  }

  return { find, change };
}

const preferenceRoutes: FastifyPluginAsyncTypebox<{ preferences: Preferences }> = async (
  app,
  { preferences },
) => {
  await app.register(requireUser);

  app.get(
    '/preferences/',
    {
      config: { message: { ko: '메일 설정을 조회했습니다.', en: 'Here are your mail preferences.' } },
      schema: {
        operationId: 'getMailPreferences',
        summary: 'Mail preferences',
        description: 'The language of emails, and which emails about partnerships the user gets.',
        response: { 200: Ref(MailPreferences) },
      },
    },
    async (request) => toMailPreferences(await preferences.find(currentUser(request).id), request.language),
  );

  app.patch(
    '/preferences/',
    {
      config: {
        message: { ko: '메일 설정을 변경했습니다.', en: 'Your mail preferences have been changed.' },
      },
      schema: {
        operationId: 'updateMailPreferences',
        summary: 'Change mail preferences',
        description:
          'Changes the given fields. Until `language` is set here, it follows the language of the latest login; from then on it stays. Notifications inside the service do not depend on these preferences.',
        body: Ref(MailPreferenceChanges),
        response: { 200: Ref(MailPreferences) },
      },
    },
    async (request) =>
      toMailPreferences(await preferences.change(currentUser(request).id, request.body), request.language),
  );
};

/** @throws {ApiError} for an account that is gone */
function toMailPreferences(row: PreferencesRow | null, language: Language): MailPreferences {
  if (row === null) throw tokenNotValid('access', 'revoked', language);
  const isSent = (topic: MailTopic) => !row.mutedMails.includes(topic);
  return {
    language: row.language,
    email: {
      partner_request_received: isSent('partner_request_received'),
      partner_request_answered: isSent('partner_request_answered'),
      partner_request_ended: isSent('partner_request_ended'),
      saved_search_match: row.hasMatchMails,
    },
  };
}
