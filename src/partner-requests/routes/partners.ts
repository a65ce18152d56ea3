import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../http/authentication.ts';
import { paginateBounded } from '../../http/pagination.ts';
import { isId } from '../../http/path-ids.ts';
import { Ref } from '../../http/schemas.ts';
import { PartnerPage, PartnerQuery } from '../partner-schemas.ts';
import { toPartner } from '../presenters.ts';
import type { PartnerRequests } from '../repository.ts';

/** The partners of the logged-in user's store. */
export const partnerListRoute: FastifyPluginAsyncTypebox<{ partnerRequests: PartnerRequests }> = async (
  app,
  { partnerRequests },
) => {
  app.get(
    '/partners/',
    {
      config: { message: { ko: '제휴 가게 목록을 조회했습니다.', en: 'Here are your partners.' } },
      schema: {
        operationId: 'listPartners',
        summary: 'List partners',
        description:
          "Stores with which a request that the user's store sent or received is accepted, with how to reach them, by when it was accepted, newest first; none without a store. A store with several accepted requests is listed once, with the newest. Stores of suspended accounts are left out. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of requests: continue until `next_cursor` is `null`.",
        querystring: PartnerQuery,
        response: { 200: Ref(PartnerPage) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      return paginateBounded(request.query, {
        isId,
        find: (page) => partnerRequests.findPartners({ userId, ...page }),
        present: toPartner,
      });
    },
  );
};
