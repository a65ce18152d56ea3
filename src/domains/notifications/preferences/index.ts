import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { currentUser, requireUser, tokenNotValid } from '../../../http/authentication.ts';
import { openApiScope } from '../../../http/openapi-scope.ts';
import { Ref } from '../../../http/schemas.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import type { Language, MailTopic } from '../../../infrastructure/database/generated/enums.ts';
import { mailTopics, type UnsubscribeLinks } from '../../../infrastructure/mail/unsubscribe-links.ts';
import { createPreferencesRepository, type Preferences, type PreferencesRow } from './repository.ts';
import { MailPreferenceChanges, MailPreferences, preferenceSchemas } from './schemas.ts';
import { unsubscribeRoutes } from './unsubscribe.ts';

/** Builds the preferences about emails: their routes under `/api/v1/notifications`. */
export function createPreferences(options: { database: Database; unsubscribeLinks: UnsubscribeLinks }) {
  const preferences = createPreferencesRepository(options.database);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(openApiScope, { tag: 'notifications', schemas: preferenceSchemas });
    await scope.register(preferenceRoutes, { preferences });
    await scope.register(unsubscribeRoutes, { preferences, unsubscribeLinks: options.unsubscribeLinks });
  }

  return { routes };
}

/** Which emails a user gets, and in which language. */
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
    async (request) => {
      const { language, email = {} } = request.body;
      const row = await preferences.change(currentUser(request).id, {
        ...(language === undefined ? {} : { language }),
        on: mailTopics.filter((topic) => email[topic] === true),
        off: mailTopics.filter((topic) => email[topic] === false),
      });
      return toMailPreferences(row, request.language);
    },
  );
};

/** How a user wants to get emails, as the API shows it. @throws {ApiError} for an account that is gone */
function toMailPreferences(row: PreferencesRow | null, language: Language): MailPreferences {
  if (row === null) throw tokenNotValid('access', 'revoked', language);
  const isSent = (topic: MailTopic) => !row.mutedMails.includes(topic);
  return {
    language: row.language,
    email: {
      partner_request_received: isSent('partner_request_received'),
      partner_request_answered: isSent('partner_request_answered'),
      partner_request_ended: isSent('partner_request_ended'),
    },
  };
}
