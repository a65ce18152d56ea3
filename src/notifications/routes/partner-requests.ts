import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { httpErrors } from '../../http/errors.ts';
import { type Idempotency, IdempotencyHeaders } from '../../http/idempotency.ts';
import { Page, readCursor, toPage } from '../../http/pagination.ts';
import { isId, PathId, readPathIds } from '../../http/path-ids.ts';
import { Reference } from '../../http/schemas.ts';
import { postErrors } from '../../posts/errors.ts';
import type { NotificationDependencies } from '../dependencies.ts';
import { notificationErrors } from '../errors.ts';
import { toPartnerRequest, toReceivedPartnerRequest } from '../repository/partner-requests.ts';
import {
  NewPartnerRequest,
  PartnerRequest,
  PartnerRequestQuery,
  ReceivedPartnerRequest,
} from '../schemas.ts';
import { createPartnerRequestService } from '../service/partner-requests.ts';

interface Options {
  dependencies: NotificationDependencies;
  idempotency: Idempotency;
}

/** Sending, listing, answering and withdrawing partnership requests. */
export const partnerRequestRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { dependencies, idempotency },
) => {
  app.addHook('preValidation', readPathIds);
  const { partnerRequests } = dependencies;
  const service = createPartnerRequestService(dependencies);

  app.post(
    '/partner-request/',
    {
      config: {
        message: { ko: '제휴를 요청했습니다.', en: 'Your partnership request has been sent.' },
        errors: [
          postErrors.storeRequired,
          postErrors.postNotFound,
          notificationErrors.ownPost,
          notificationErrors.alreadyRequested,
          httpErrors.idempotencyConflict,
        ],
      },
      schema: {
        operationId: 'createPartnerRequest',
        summary: 'Create a partnership request',
        description:
          'Asks the store that wrote a post for the partnership it looks for. The receiver is notified and gets a mail, at most five mails an hour about one post from one store and sixty in all. A store has one pending or accepted request for a post; after a declined or withdrawn one it may ask again.',
        tags: ['notifications'],
        headers: IdempotencyHeaders,
        body: Reference(NewPartnerRequest),
        response: { 201: Reference(PartnerRequest) },
      },
    },
    async (request, reply) => {
      const user = currentUser(request);
      const created = await idempotency(request, user, (transaction) =>
        service.send(transaction, user.id, request.body),
      );
      return reply.code(201).send(created);
    },
  );

  app.get(
    '/partner-request/',
    {
      config: {
        message: { ko: '제휴 요청 목록을 조회했습니다.', en: 'Here are the partnership requests.' },
        errors: [httpErrors.invalidCursor],
      },
      schema: {
        operationId: 'listPartnerRequests',
        summary: 'List partnership requests',
        description:
          "Requests that the user's store sent or received, newest first; none without a store. Sent ones are PartnerRequest, received ones ReceivedPartnerRequest.",
        tags: ['notifications'],
        querystring: PartnerRequestQuery,
        response: {
          200: Page(Type.Union([Reference(PartnerRequest), Reference(ReceivedPartnerRequest)])),
        },
      },
    },
    async (request) => {
      const { box, status, limit, cursor } = request.query;
      const filter = {
        userId: currentUser(request).id,
        status,
        after: readCursor(cursor, isId),
        limit: limit + 1,
      };
      return box === 'sent'
        ? toPage(await partnerRequests.findSent(filter), limit, position, toPartnerRequest)
        : toPage(await partnerRequests.findReceived(filter), limit, position, toReceivedPartnerRequest);
    },
  );

  const params = Type.Object({ id: PathId('`id` of a partnership request') });
  const errors = [notificationErrors.partnerRequestNotFound, notificationErrors.invalidTransition];

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
        description: 'Only its receiver can, while it is pending. The sender is notified and gets a mail.',
        tags: ['notifications'],
        params,
        response: { 200: Reference(ReceivedPartnerRequest) },
      },
    },
    async (request) =>
      toReceivedPartnerRequest(await service.act('accept', currentUser(request).id, request.params.id)),
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
        description: 'Only its receiver can, while it is pending. The sender is notified and gets a mail.',
        tags: ['notifications'],
        params,
        response: { 200: Reference(ReceivedPartnerRequest) },
      },
    },
    async (request) =>
      toReceivedPartnerRequest(await service.act('decline', currentUser(request).id, request.params.id)),
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
        description: 'Only its sender can, while it is pending. The receiver is notified.',
        tags: ['notifications'],
        params,
        response: { 200: Reference(PartnerRequest) },
      },
    },
    async (request) =>
      toPartnerRequest(await service.act('withdraw', currentUser(request).id, request.params.id)),
  );
};

function position({ created_at, id }: { created_at: Date; id: number }) {
  return { time: created_at.getTime(), id: String(id) };
}
