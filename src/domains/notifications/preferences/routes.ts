import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../../http/authentication.ts';
import { invalidFields } from '../../../http/errors.ts';
import { Ref } from '../../../http/schemas.ts';
import type { Preferences } from './repository.ts';
import { MailPreferenceChanges, MailPreferences, toMailPreferences } from './schemas.ts';

const emptyHours = {
  field: '/quiet_hours/to',
  code: 'duplicate',
  text: { ko: '시작 시각과 달라야 합니다.', en: 'Must not be the same as `from`.' },
} as const;

/** The preferences of the logged-in user. */
export const preferenceRoutes: FastifyPluginAsyncTypebox<{ preferences: Preferences }> = async (
  app,
  { preferences },
) => {
  app.get('/preferences/', {
    config: {
      access: 'user',
      message: { ko: '알림 설정을 조회했습니다.', en: 'Here are your notification preferences.' },
    },
    schema: {
      operationId: 'getMailPreferences',
      summary: 'Notification preferences',
      description:
        'The language of emails and push messages, which of them the user gets, and when none is sent.',
      response: { 200: Ref(MailPreferences) },
    },
    handler: async (request) => toMailPreferences(await preferences.find(currentUser(request).id)),
  });

  app.patch('/preferences/', {
    config: {
      access: 'user',
      message: { ko: '알림 설정을 변경했습니다.', en: 'Your notification preferences have been changed.' },
    },
    schema: {
      operationId: 'updateMailPreferences',
      summary: 'Change notification preferences',
      description:
        'Changes the given fields. Until `language` is set here, it follows the language of the latest login; from then on it stays. What is due within `quiet_hours` is sent within a minute of their end, also when this operation ends them, or not at all when its notification was read meanwhile. Codes, links and notices about the account are sent at any time, and notifications inside the service do not depend on these preferences.',
      body: Ref(MailPreferenceChanges),
      response: { 200: Ref(MailPreferences) },
    },
    handler: async (request) => {
      const { body } = request;
      if (body.quiet_hours && body.quiet_hours.from === body.quiet_hours.to)
        throw invalidFields([emptyHours]);
      return toMailPreferences(await preferences.change(currentUser(request).id, body));
    },
  });
};
