import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { sendCreated } from '../../http/conditions.ts';
import { found, httpErrors } from '../../http/errors.ts';
import { paginate } from '../../http/pagination.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { BigPathId, isBigId, Ref } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { ImageUrls } from '../images/index.ts';
import { postErrors, stateOfStatus } from '../posts/index.ts';
import * as partnerRequests from './repository/requests.ts';
import * as schemas from './schemas.ts';
import type { PartnerRequestService } from './service.ts';

const { partnerRequestErrors } = schemas;
const RequestParams = Type.Object({ partner_request_id: BigPathId('`id` of a partnership request') });

type Options = { database: Database; service: PartnerRequestService; imageUrls: ImageUrls };

export const partnerRequestRoutes: Routes<Options> = async (app, options) => {
  const { database, service, imageUrls } = options;

  app.post('/partner-request/', {
    config: {
      ...operation('user', '제휴를 요청했습니다.', 'Your partnership request has been sent.'),
      errors: [
        postErrors.storeRequired,
        postErrors.postNotFound,
        partnerRequestErrors.ownPost,
        partnerRequestErrors.postClosed,
        partnerRequestErrors.alreadyRequested,
        httpErrors.quotaExceeded,
      ],
      idempotent: true,
      location: true,
    },
    schema: {
      operationId: 'createPartnerRequest',
      summary: 'Create a partnership request',
      description:
        'Sends a request to the store that wrote an open post. The receiver is notified and, at a verified address, gets an email: at most five an hour about one post from one store and sixty in all. A store has one pending or accepted request for a post; after a declined, withdrawn or ended one it may ask again. It can send 100 requests within 24 hours, five of them for the same post, whatever became of them; an installation may have another number or no quota.',
      body: Ref(schemas.NewPartnerRequest),
      response: { 201: Ref(schemas.PartnerRequest) },
    },
    handler: async (request, reply) =>
      sendCreated(reply, (key) => service.send(currentUser(request).id, request.body, key)),
  });

  app.get('/partner-request/', {
    config: operation('user', '제휴 요청 목록을 조회했습니다.', 'Here are the partnership requests.'),
    schema: {
      operationId: 'listPartnerRequests',
      summary: 'List partnership requests',
      description:
        "Requests that the user's store sent or received, newest first; none without a store. `box` tells which of the two an item is.",
      querystring: schemas.PartnerRequestQuery,
      response: { 200: Ref(schemas.PartnerRequestPage) },
    },
    handler: async (request) => {
      const { box, status } = request.query;
      const filter = { userId: currentUser(request).id, box, status: status && stateOfStatus(status) };
      return paginate(request.query, {
        isId: isBigId,
        find: (page) => partnerRequests.list(database, { ...filter, ...page }),
        present: schemas.toPartnerRequest,
      });
    },
  });

  app.get('/partner-request/:partner_request_id/', {
    config: {
      ...operation('user', '제휴 요청을 조회했습니다.', 'Here is the partnership request.'),
      errors: [partnerRequestErrors.partnerRequestNotFound],
    },
    schema: {
      operationId: 'getPartnerRequest',
      summary: 'Read a partnership request',
      description:
        "A request that the user's store sent or received, with its post, both stores and, while it is accepted, how to reach the other store. `box` tells on which side the user is.",
      params: RequestParams,
      response: { 200: Ref(schemas.PartnerRequestDetail) },
    },
    handler: async (request) => {
      const { id: userId } = currentUser(request);
      const row = await partnerRequests.findDetail(database, request.params.partner_request_id, userId);
      const detail = found(row, partnerRequestErrors.partnerRequestNotFound);
      return schemas.toPartnerRequestDetail(detail, imageUrls);
    },
  });

  const errors = [partnerRequestErrors.partnerRequestNotFound, partnerRequestErrors.invalidTransition];
  for (const { action, rule, message, response, ...documentation } of transitions) {
    app.post(`/partner-request/:partner_request_id/${action}/`, {
      config: { access: 'user', message, errors },
      schema: { ...documentation, params: RequestParams, response: { 200: Ref(response) } },
      handler: async (request) =>
        service.transition(currentUser(request).id, request.params.partner_request_id, rule),
    });
  }
};

const transitions = [
  {
    action: 'accept',
    rule: { box: 'received', from: 'requested', to: 'accepted' },
    operationId: 'acceptPartnerRequest',
    summary: 'Accept a partnership request',
    description:
      'Only the receiver can accept a request, while it is pending. The sender is notified and, at a verified address, gets an email.',
    message: { ko: '제휴 요청을 수락했습니다.', en: 'You accepted the partnership request.' },
    response: schemas.ReceivedPartnerRequest,
  },
  {
    action: 'decline',
    rule: { box: 'received', from: 'requested', to: 'declined' },
    operationId: 'declinePartnerRequest',
    summary: 'Decline a partnership request',
    description:
      'Only the receiver can decline a request, while it is pending. The sender is notified and, at a verified address, gets an email.',
    message: { ko: '제휴 요청을 거절했습니다.', en: 'You declined the partnership request.' },
    response: schemas.ReceivedPartnerRequest,
  },
  {
    action: 'withdraw',
    rule: { box: 'sent', from: 'requested', to: 'withdrawn' },
    operationId: 'withdrawPartnerRequest',
    summary: 'Withdraw a partnership request',
    description: 'Only the sender can withdraw a request, while it is pending. The receiver is notified.',
    message: { ko: '제휴 요청을 취소했습니다.', en: 'You withdrew the partnership request.' },
    response: schemas.PartnerRequest,
  },
  {
    action: 'end',
    rule: { box: 'either', from: 'accepted', to: 'ended' },
    operationId: 'endPartnerRequest',
    summary: 'End a partnership',
    description:
      'Either side can end an accepted request. The other side is notified and, at a verified address, gets an email. Neither side sees the contact of the other one any more, and the sender may ask again.',
    message: { ko: '제휴를 종료했습니다.', en: 'You ended the partnership.' },
    response: schemas.AnyPartnerRequest,
  },
] as const;

export const partnerRoutes: Routes<Options> = async (app, { database }) => {
  app.get('/partners/', {
    config: operation('user', '제휴 가게 목록을 조회했습니다.', 'Here are your partners.'),
    schema: {
      operationId: 'listPartners',
      summary: 'List partners',
      description:
        "Stores with which a request that the user's store sent or received is accepted, with how to reach them, by when it was accepted, newest first; none without a store. A store with several accepted requests is listed once, with the newest. Stores of suspended accounts are left out. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of requests: continue until `next_cursor` is `null`.",
      querystring: schemas.PartnerQuery,
      response: { 200: Ref(schemas.PartnerPage) },
    },
    handler: async (request) => {
      const { id: userId } = currentUser(request);
      return paginate(request.query, {
        isId: isBigId,
        find: (page) => partnerRequests.listPartners(database, { userId, ...page }),
        present: schemas.toPartner,
      });
    },
  });
};
