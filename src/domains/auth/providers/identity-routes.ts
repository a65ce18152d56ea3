import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser, requireUser } from '../../../http/authentication.ts';
import { PageQuery, paginate } from '../../../http/pagination.ts';
import { requestContext } from '../../../http/request-context.ts';
import { EmptyData, isId, PathId, Ref } from '../../../http/schemas.ts';
import { authErrors, confirmationErrors } from '../errors.ts';
import type { IdentityService } from './identities.ts';
import { Identity, IdentityPage, NewIdentity, toIdentity } from './schemas.ts';

/** The identities of a user at providers. */
export const identityRoutes: FastifyPluginAsyncTypebox<{ identities: IdentityService }> = async (
  app,
  { identities },
) => {
  await app.register(requireUser);

  app.get(
    '/identities/',
    {
      config: {
        message: { ko: '연결된 로그인 방법을 조회했습니다.', en: 'Here are your connected logins.' },
      },
      schema: {
        operationId: 'listIdentities',
        summary: 'Identities of the user',
        description: 'The accounts at providers with which the user logs in, newest first.',
        querystring: Type.Object(PageQuery),
        response: { 200: Ref(IdentityPage) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      return paginate(request.query, {
        isId,
        find: (page) => identities.list(user.id, page),
        present: toIdentity,
      });
    },
  );

  app.post(
    '/identities/',
    {
      config: {
        message: { ko: '로그인 방법을 연결했습니다.', en: 'The login is connected.' },
        errors: [authErrors.linkTokenInvalid, authErrors.identityTaken, ...confirmationErrors],
      },
      schema: {
        operationId: 'addIdentity',
        summary: 'Connect an identity',
        description:
          'Connects the identity of a login that ended with 409 `link_required` with the account whose address it has, after a login to that account.',
        body: Ref(NewIdentity),
        response: { 201: Ref(Identity) },
      },
    },
    async (request, reply) => {
      const { link_token } = request.body;
      reply.code(201);
      return identities.addByToken(currentUser(request), link_token, requestContext(request));
    },
  );

  app.delete(
    '/identities/:identity_id/',
    {
      config: {
        message: { ko: '로그인 방법의 연결을 해제했습니다.', en: 'The login is no longer connected.' },
        errors: [authErrors.identityNotFound, authErrors.lastLoginMethod, ...confirmationErrors],
      },
      schema: {
        operationId: 'removeIdentity',
        summary: 'Disconnect an identity',
        description:
          'The user can no longer log in with it. Kakao, Naver and Apple are told to forget the consent. The last way to log in stays.',
        params: Type.Object({ identity_id: PathId('`id` of an identity') }),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      await identities.remove(user, request.params.identity_id, requestContext(request));
      return {};
    },
  );
};
