import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { idempotencyKey, sendCreated } from '../../http/idempotency.ts';
import { paginate } from '../../http/pagination.ts';
import { isId, PathId } from '../../http/path-ids.ts';
import { Ref } from '../../http/schemas.ts';
import type { ImageUrls } from '../../images/image-urls.ts';
import { postErrors } from '../../posts/errors.ts';
import { partnerRequestErrors } from '../errors.ts';
import { PartnerRequestDetail } from '../partner-schemas.ts';
import { toPartnerRequest, toPartnerRequestDetail, toReceivedPartnerRequest } from '../presenters.ts';
import type { PartnerRequests } from '../repository.ts';
import {
  NewPartnerRequest,
  PartnerRequest,
  PartnerRequestPage,
  PartnerRequestQuery,
  stateOfStatus,
} from '../schemas.ts';
import type { createPartnerRequestService } from '../service.ts';

interface Options {
  partnerRequests: PartnerRequests;
  service: ReturnType<typeof createPartnerRequestService>;
  imageUrls: ImageUrls;
}

/** Sending, listing and reading partnership requests. */
export const partnerRequestRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { partnerRequests, service, imageUrls },
) => {
  app.post(
    '/partner-request/',
    {
      config: {
        message: { ko: '제휴를 요청했습니다.', en: 'Your partnership request has been sent.' },
        errors: [
          postErrors.storeRequired,
          postErrors.postNotFound,
          partnerRequestErrors.ownPost,
          partnerRequestErrors.alreadyRequested,
          httpErrors.quotaExceeded,
        ],
        idempotent: true,
      },
      schema: {
        operationId: 'createPartnerRequest',
        summary: 'Create a partnership request',
        description:
          'Sends a request to the store that wrote a post. The receiver is notified and, at a verified address, gets a mail: at most five an hour about one post from one store and sixty in all. A store has one pending or accepted request for a post; after a declined, withdrawn or ended one it may ask again. It can send 100 requests within 24 hours, five of them for the same post, whatever became of them; an installation may have another number or no quota.',
        body: Ref(NewPartnerRequest),
        response: { 201: Ref(PartnerRequest) },
      },
    },
    async (request, reply) => {
      const { id: userId } = currentUser(request);
      return sendCreated(reply, await service.send(userId, request.body, idempotencyKey(request, userId)));
    },
  );

  app.get(
    '/partner-request/',
    {
      config: { message: { ko: '제휴 요청 목록을 조회했습니다.', en: 'Here are the partnership requests.' } },
      schema: {
        operationId: 'listPartnerRequests',
        summary: 'List partnership requests',
        description:
          "Requests that the user's store sent or received, newest first; none without a store. `box` tells which of the two an item is.",
        querystring: PartnerRequestQuery,
        response: { 200: Ref(PartnerRequestPage) },
      },
    },
    async (request) => {
      const { box, status: shownStatus } = request.query;
      const { id: userId } = currentUser(request);
      const status = shownStatus && stateOfStatus(shownStatus);
      return box === 'sent'
        ? paginate(request.query, {
            isId,
            find: (page) => partnerRequests.findSent({ userId, status, ...page }),
            present: toPartnerRequest,
          })
        : paginate(request.query, {
            isId,
            find: (page) => partnerRequests.findReceived({ userId, status, ...page }),
            present: toReceivedPartnerRequest,
          });
    },
  );

  app.get(
    '/partner-request/:id/',
    {
      config: {
        message: { ko: '제휴 요청을 조회했습니다.', en: 'Here is the partnership request.' },
        errors: [partnerRequestErrors.partnerRequestNotFound],
      },
      schema: {
        operationId: 'getPartnerRequest',
        summary: 'Read a partnership request',
        description:
          "A request that the user's store sent or received, with its post, both stores and, while it is accepted, how to reach the other store. `box` tells on which side the user is.",
        params: Type.Object({ id: PathId('`id` of a partnership request') }),
        response: { 200: Ref(PartnerRequestDetail) },
      },
    },
    async (request) => {
      const found = await partnerRequests.findDetail(request.params.id, currentUser(request).id);
      if (found === undefined) throw new ApiError(partnerRequestErrors.partnerRequestNotFound);
      return toPartnerRequestDetail(found, imageUrls);
    },
  );
};
