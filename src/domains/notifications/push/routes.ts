import { ECDH } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { currentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, httpErrors, invalidFields } from '../../../http/errors.ts';
import { PageQuery, paginate } from '../../../http/pagination.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, isId, PathId, Ref } from '../../../http/schemas.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import { type CallableUrls, isCallable } from '../../../infrastructure/guarded-fetch.ts';
import type { PushSubscriptions, SubscriptionRow } from './repository.ts';
import * as schemas from './schemas.ts';

const description = `Send what \`toJSON()\` of the \`PushSubscription\` gives that \`pushManager.subscribe()\` resolves to, with \`getPushKey\` as \`applicationServerKey\`. The same endpoint again changes the keys of the subscription (200). A browser in which another user logs in belongs to that user from then on. It belongs to the session that sent it last, and ends with it: with a logout, a change or reset of the password, or a suspension, but not when the session expires. So send it again after each login.

From then on each notification of the user is pushed as JSON, for the service worker of the page, at least once:

\`\`\`
{ "id": 41, "kind": "partner_request_received", "title": "새 제휴 요청", "body": "...", "url": "https://app.example.com/requests/7" }
\`\`\`

\`id\` and \`kind\` are those of the notification, \`title\` and \`body\` are in the language of the user, \`url\` is the page of the frontend about it. A notification that is read before it is pushed is not pushed.`;

/** The browsers of the logged-in user to which notifications are pushed. */
export const pushRoutes: Routes<{
  subscriptions: PushSubscriptions;
  config: Pick<Config, 'vapid' | 'production' | 'pushServices'>;
}> = async (app, { subscriptions, config: { vapid, production, pushServices: hosts } }) => {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, errors: [...(route.config?.errors ?? []), httpErrors.notFound] };
  });
  // Without a key of the service there is nothing at these paths.
  app.addHook('onRequest', async () => {
    if (vapid === undefined) throw new ApiError(httpErrors.notFound);
  });

  app.get('/key/', {
    config: operation('user', '푸시 알림 키를 조회했습니다.', 'Here is the key.'),
    schema: {
      operationId: 'getPushKey',
      summary: 'Key of push messages',
      description:
        'For `applicationServerKey` of `pushManager.subscribe()`. A service without push messages responds with 404 `not_found` here and at all other paths below `push/`.',
      response: { 200: Ref(schemas.PushKey) },
    },
    handler: async () => ({ public_key: vapid?.publicKey ?? '' }),
  });

  app.post('/subscriptions/', {
    config: {
      ...operation('user', '이 브라우저로 푸시 알림을 보냅니다.', 'This browser gets push messages now.'),
      errors: [schemas.pushErrors.tooManySubscriptions],
    },
    schema: {
      operationId: 'createPushSubscription',
      summary: 'Push notifications to a browser',
      description,
      body: Ref(schemas.NewPushSubscription),
      response: { 200: Ref(schemas.StoredPushSubscription), 201: Ref(schemas.StoredPushSubscription) },
    },
    handler: async (request, reply) => {
      const { keys, endpoint } = readSubscription(request.body, { allowsLoopback: !production, hosts });
      const { userAgent } = requestContext(request);
      const { id: userId, sessionId } = currentUser(request);
      const saved = await subscriptions.save({ ...keys, endpoint, userId, sessionId, userAgent });
      if (saved === 'session ended') throw tokenNotValid('access', 'revoked');
      if (saved === undefined) throw new ApiError(schemas.pushErrors.tooManySubscriptions);
      reply.code(saved.isNew ? 201 : 200);
      return toSubscription(saved);
    },
  });

  app.get('/subscriptions/', {
    config: operation('user', '푸시 알림을 받는 브라우저를 조회했습니다.', 'Here are your browsers.'),
    schema: {
      operationId: 'listPushSubscriptions',
      summary: 'Browsers that get push messages',
      description:
        'Newest first. A subscription whose push service says that it has ended, or does not take messages for four days, is removed.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(schemas.PushSubscriptionPage) },
    },
    handler: async (request) => {
      const find = subscriptions.list.bind(null, currentUser(request).id);
      return paginate(request.query, { isId, find, present: toSubscription });
    },
  });

  app.delete('/subscriptions/:subscription_id/', {
    config: {
      ...operation(
        'user',
        '이 브라우저로는 푸시 알림을 보내지 않습니다.',
        'This browser gets no more push messages.',
      ),
      errors: [schemas.pushErrors.subscriptionNotFound],
    },
    schema: {
      operationId: 'deletePushSubscription',
      summary: 'Stop push messages to a browser',
      description: 'Nothing that still waits to be pushed to it is pushed.',
      params: Type.Object({ subscription_id: PathId('`id` of a subscription') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const isRemoved = await subscriptions.remove(currentUser(request).id, request.params.subscription_id);
      if (!isRemoved) throw new ApiError(schemas.pushErrors.subscriptionNotFound);
      return {};
    },
  });
};

const wrongEndpoint = {
  field: 'endpoint',
  code: 'invalid_format',
  text: {
    ko: '푸시 서비스의 공개 https 주소여야 합니다.',
    en: 'Must be a public https URL of a push service.',
  },
} as const;

const wrongPoint = {
  field: '/keys/p256dh',
  code: 'invalid_format',
  text: { ko: 'P-256 곡선의 압축하지 않은 점이어야 합니다.', en: 'Must be an uncompressed point of P-256.' },
} as const;

function readSubscription({ endpoint: text, keys }: schemas.NewPushSubscription, callable: CallableUrls) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const endpoint = url?.href ?? '';
  const isAccepted = url !== undefined && endpoint.length <= 2048 && isCallable(url, callable);
  const problems = [...(isAccepted ? [] : [wrongEndpoint]), ...(isPoint(keys.p256dh) ? [] : [wrongPoint])];
  if (problems.length > 0) throw invalidFields(problems);
  return { endpoint, keys };
}

function isPoint(text: string): boolean {
  const isUncompressed = Buffer.from(text, 'base64url')[0] === 4;
  try {
    // Throws for a point that is not on the curve.
    return isUncompressed && ECDH.convertKey(text, 'prime256v1', 'base64url').length > 0;
  } catch {
    return false;
  }
}

function toSubscription({ id, createdAt, userAgent }: SubscriptionRow) {
  return { id, created_at: createdAt.toISOString(), user_agent: userAgent };
}
