import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { authenticate, optionalBearer } from '../../http/authentication.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { requestContext } from '../../http/request-context.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { createLogin } from '../service/login.ts';
import { SessionToEnd } from '../session-schemas.ts';

/** Logout by the access token, or by the refresh token where the access token is missing or no longer valid. */
export const logoutRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  const { sessions } = dependencies;
  const { logOutByRefreshToken } = createLogin(dependencies);

  app.post(
    '/logout/',
    {
      config: {
        message: { ko: '로그아웃되었습니다.', en: 'You are logged out.' },
        errors: [httpErrors.notAuthenticated],
      },
      // A body without a usable refresh token does not excuse an invalid access token, whatever is wrong with the body.
      errorHandler: async (error, request) => {
        if (request.credentials && isRefusal(error)) await authenticate(request);
        throw error;
      },
      schema: {
        operationId: 'logOut',
        summary: 'Log out',
        description:
          'Ends the session of the access token. Where that is not sent or no longer valid, ends the session of the refresh token in the body.',
        security: optionalBearer,
        body: Ref(SessionToEnd),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      await logOut(request, request.body.refresh);
      return {};
    },
  );

  async function logOut(request: FastifyRequest, refreshToken: string | undefined): Promise<void> {
    const context = requestContext(request);
    if (refreshToken !== undefined && !(await isAuthenticated(request))) {
      return logOutByRefreshToken(refreshToken, context);
    }
    const { id: userId, sessionId } = await authenticate(request);
    await sessions.end({ userId, sessionId });
    context.audit('logout', { userId, sessionId });
  }
};

async function isAuthenticated(request: FastifyRequest): Promise<boolean> {
  try {
    await authenticate(request);
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** Whether an error is the client's, and not an outage. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ApiError) return error.definition.status < 500;
  return error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500;
}
