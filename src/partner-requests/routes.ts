import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../http/authentication.ts';
import { httpErrors } from '../http/errors.ts';
import { idempotencyKey, sendCreated } from '../http/idempotency.ts';
import { paginate } from '../http/pagination.ts';
import { isId, PathId } from '../http/path-ids.ts';
import { Ref } from '../http/schemas.ts';
import { postErrors } from '../posts/errors.ts';
import { partnerRequestErrors } from './errors.ts';
import { toPartnerRequest, toReceivedPartnerRequest } from './presenters.ts';
import type { PartnerRequests } from './repository.ts';
import {
  NewPartnerRequest,
  PartnerRequest,
  PartnerRequestPage,
  PartnerRequestQuery,
  ReceivedPartnerRequest,
  stateOfStatus,
} from './schemas.ts';
import type { createPartnerRequestService } from './service.ts';

interface Options {
  partnerRequests: PartnerRequests;
  service: ReturnType<typeof createPartnerRequestService>;
}

/** Sending, listing, answering and withdrawing partnership requests. */
export const partnerRequestRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { partnerRequests, service },
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
          'Sends a request to the store that wrote a post. The receiver is notified and, at a verified address, gets a mail: at most five an hour about one post from one store and sixty in all. A store has one pending or accepted request for a post; after a declined or withdrawn one it may ask again. It can send 100 requests within 24 hours, five of them for the same post, whatever became of them; an installation may have another number or no quota.',
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

  const params = Type.Object({ id: PathId('`id` of a partnership request') });
  const errors = [partnerRequestErrors.partnerRequestNotFound, partnerRequestErrors.invalidTransition];

  app.post(
    '/partner-request/:id/accept/',
    {
      config: {
        message: { ko: '제휴 요청을 수락했습니다.', en: 'You accepted the partnership request.' },
        errors,
      },
      schema: {
        operationId: 'acceptPartnerRequest',
        summary: 'Accept a partnership request',
        description:
          'Only the receiver can accept a request, while it is pending. The sender is notified and, at a verified address, gets a mail.',
        params,
        response: { 200: Ref(ReceivedPartnerRequest) },
      },
    },
    async (request) =>
      toReceivedPartnerRequest(
        await service.transition('accept', currentUser(request).id, request.params.id),
      ),
  );

  app.post(
    '/partner-request/:id/decline/',
    {
      config: {
        message: { ko: '제휴 요청을 거절했습니다.', en: 'You declined the partnership request.' },
        errors,
      },
      schema: {
        operationId: 'declinePartnerRequest',
        summary: 'Decline a partnership request',
        description:
          'Only the receiver can decline a request, while it is pending. The sender is notified and, at a verified address, gets a mail.',
        params,
        response: { 200: Ref(ReceivedPartnerRequest) },
      },
    },
    async (request) =>
      toReceivedPartnerRequest(
        await service.transition('decline', currentUser(request).id, request.params.id),
      ),
  );

  app.post(
    '/partner-request/:id/withdraw/',
    {
      config: {
        message: { ko: '제휴 요청을 취소했습니다.', en: 'You withdrew the partnership request.' },
        errors,
      },
      schema: {
        operationId: 'withdrawPartnerRequest',
        summary: 'Withdraw a partnership request',
        description: 'Only the sender can withdraw a request, while it is pending. The receiver is notified.',
        params,
        response: { 200: Ref(PartnerRequest) },
      },
    },
    async (request) =>
      toPartnerRequest(await service.transition('withdraw', currentUser(request).id, request.params.id)),
  );
};
