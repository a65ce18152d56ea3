import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { PageQuery } from '../../http/pagination.ts';
import { PathId } from '../../http/path-ids.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import { requestOperator } from '../operator.ts';
import { FailedMailPage } from '../schemas.ts';
import type { FailedMailAdministration } from '../service/failed-mails.ts';

/** Mails that failed for good. */
export const failedMailRoutes: FastifyPluginAsyncTypebox<{ failedMails: FailedMailAdministration }> = async (
  app,
  { failedMails },
) => {
  app.get(
    '/failed-mails/',
    {
      config: { message: { ko: '보내지 못한 메일 목록을 조회했습니다.', en: 'Here are the failed mails.' } },
      schema: {
        operationId: 'listFailedMails',
        summary: 'List failed mails',
        description:
          'Mails that are not tried again by themselves, newest first. They are kept for 90 days, or until their account is deleted.',
        querystring: Type.Object(PageQuery),
        response: { 200: Ref(FailedMailPage) },
      },
    },
    async (request) => failedMails.list(requestOperator(request), request.query),
  );

  app.post(
    '/failed-mails/:failed_mail_id/retry/',
    {
      config: { message: { ko: '메일을 다시 보냅니다.', en: 'The mail will be tried again.' } },
      schema: {
        operationId: 'retryFailedMail',
        summary: 'Send a failed mail again',
        description:
          'Puts the mail back into the queue; it leaves this list. It is made anew from what is true then: one that is obsolete, such as an expired code, is not sent.',
        params: Type.Object({ failed_mail_id: PathId('`id` of a failed mail') }),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      await failedMails.retry(requestOperator(request), request.params.failed_mail_id);
      return {};
    },
  );
};
