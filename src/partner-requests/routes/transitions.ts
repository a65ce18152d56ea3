import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { PathId } from '../../http/path-ids.ts';
import { Ref } from '../../http/schemas.ts';
import { partnerRequestErrors } from '../errors.ts';
import { toPartnerRequest, toReceivedPartnerRequest, toRequestOf } from '../presenters.ts';
import { AnyPartnerRequest, PartnerRequest, ReceivedPartnerRequest } from '../schemas.ts';
import type { createPartnerRequestService } from '../service.ts';

interface Options {
  service: ReturnType<typeof createPartnerRequestService>;
}

/** Answering, withdrawing and ending partnership requests. */
export const transitionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { service }) => {
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

  app.post(
    '/partner-request/:id/end/',
    {
      config: { message: { ko: '제휴를 종료했습니다.', en: 'You ended the partnership.' }, errors },
      schema: {
        operationId: 'endPartnerRequest',
        summary: 'End a partnership',
        description:
          'Either side can end an accepted request. The other side is notified and, at a verified address, gets a mail. Neither side sees the contact of the other one any more, and the sender may ask again.',
        params,
        response: { 200: Ref(AnyPartnerRequest) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      return toRequestOf(userId, await service.transition('end', userId, request.params.id));
    },
  );
};
