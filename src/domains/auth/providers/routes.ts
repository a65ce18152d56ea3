import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { currentUser } from '../../../http/authentication.ts';
import { ApiError, httpErrors } from '../../../http/errors.ts';
import { PageQuery, paginate } from '../../../http/pagination.ts';
import { readForm } from '../../../http/plugins/body-reader.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, emptyData, isId, PathId, Ref } from '../../../http/schemas.ts';
import { authErrors, confirmationErrors } from '../errors.ts';
import { TokenPairWithUser } from '../schemas.ts';
import * as schemas from './schemas.ts';
import type { ProviderLogin } from './service.ts';

export const providerRoutes: Routes<ProviderLogin> = async (app, login) => {
  app.get('/providers/', {
    config: operation('anyone', '로그인 방법을 조회했습니다.', 'Here are the login providers.'),
    schema: {
      operationId: 'listLoginProviders',
      summary: 'Providers of logins',
      description:
        'With what users can log in beside a password, as the operator has configured it; may be empty.',
      response: { 200: Ref(schemas.LoginProviders) },
    },
    handler: async ({ language }) => ({
      items: login.providers.map(({ id, name }) => ({ id, name: name[language] })),
    }),
  });

  app.post('/providers/sign-up/', {
    config: {
      ...operation('anyone', '회원가입이 완료되었습니다.', 'Your account has been created.'),
      limit: { group: 'signup', max: 20 },
      errors: [
        authErrors.signUpTokenInvalid,
        authErrors.verificationTokenInvalid,
        authErrors.usernameTaken,
        authErrors.emailTaken,
        authErrors.identityTaken,
      ],
    },
    schema: {
      operationId: 'signUpWithProvider',
      summary: 'Sign up with a provider',
      description:
        'Creates an account without a password and logs in to it. Its address is verified when the provider has verified that very address, or with a `verification_token`; otherwise a code is mailed, as by `signUp`. A password can be set with a reset link. An error does not use the `sign_up_token` up.',
      body: Ref(schemas.NewUserOfProvider),
      response: { 201: Ref(TokenPairWithUser) },
    },
    handler: async (request) => login.signUp(request.body, requestContext(request)),
  });

  app.post('/providers/:provider/start/', {
    config: {
      ...operation('optional', '로그인을 시작합니다.', 'The login begins.'),
      errors: [authErrors.providerNotFound, httpErrors.notAuthenticated, ...confirmationErrors],
    },
    schema: {
      operationId: 'startProviderLogin',
      summary: 'Begin a login with a provider',
      description:
        'Gives the URL at the provider to which the browser goes. `link` and `confirm` take an access token. The provider sends the browser back to the callback of this service, and that to `{FRONTEND_URL}/login/callback`, whose page calls `finishProviderLogin`.',
      params: schemas.ProviderPath,
      body: Ref(schemas.ProviderLoginStart),
      response: { 200: Ref(schemas.StartedFlow) },
    },
    handler: async ({ params, body, currentUser }) => login.start(params.provider, body.purpose, currentUser),
  });

  app.post('/providers/:provider/finish/', {
    config: {
      ...operation('optional', '확인되었습니다.', 'The login at the provider is verified.'),
      limit: { group: 'login', max: 30 },
      errors: [
        authErrors.providerNotFound,
        authErrors.providerRefused,
        authErrors.signUpRequired,
        authErrors.linkRequired,
        authErrors.identityTaken,
        authErrors.secondFactorRequired,
        authErrors.accountSuspended,
        httpErrors.notAuthenticated,
        ...confirmationErrors,
      ],
    },
    schema: {
      operationId: 'finishProviderLogin',
      summary: 'Finish a login with a provider',
      description:
        'Takes what the callback page got, with the `flow_token` of the same browser; for `link` and `confirm` also the access token of the session that began. An account is found by the identity at the provider and never by its email address: where the identity is new, 403 `sign_up_required` leads to `signUpWithProvider`, or 409 `link_required`, when a verified account has the address that the provider has verified, to a login to that account and `addIdentity`. Each login is finished once, whatever comes of it; only the `state`, the path or the access token of another login, 401 `token_not_valid`, `not_authenticated` and 403 `confirmation_required` leave it open.',
      params: schemas.ProviderPath,
      body: Ref(schemas.FinishedFlow),
      response: { 200: Ref(schemas.LoginOrConfirmation), 201: Ref(schemas.Identity) },
    },
    handler: async (request, reply) => {
      const { body, params, currentUser: caller } = request;
      const finish = { ...body, providerId: params.provider, caller };
      const result = await login.finishLogin(finish, requestContext(request));
      return 'provider' in result ? reply.code(201).send(result) : result;
    },
  });

  await app.register(callbackRoutes, login);

  app.get('/identities/', {
    config: operation('user', '연결된 로그인 방법을 조회했습니다.', 'Here are your connected logins.'),
    schema: {
      operationId: 'listIdentities',
      summary: 'Identities of the user',
      description: 'The accounts at providers with which the user logs in, newest first.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(schemas.IdentityPage) },
    },
    handler: async (request) => {
      const find = login.list.bind(null, currentUser(request).id);
      return paginate(request.query, { isId, find, present: schemas.toIdentity });
    },
  });

  app.post('/identities/', {
    config: {
      ...operation('user', '로그인 방법을 연결했습니다.', 'The login is connected.'),
      errors: [authErrors.linkTokenInvalid, authErrors.identityTaken, ...confirmationErrors],
    },
    schema: {
      operationId: 'addIdentity',
      summary: 'Connect an identity',
      description:
        'Connects the identity of a login that ended with 409 `link_required` with the account whose address it has, after a login to that account.',
      body: Ref(schemas.NewIdentity),
      response: { 201: Ref(schemas.Identity) },
    },
    handler: async (request) =>
      login.addByToken(currentUser(request), request.body.link_token, requestContext(request)),
  });

  app.delete('/identities/:identity_id/', {
    config: {
      ...operation('user', '로그인 방법의 연결을 해제했습니다.', 'The login is no longer connected.'),
      errors: [authErrors.identityNotFound, authErrors.lastLoginMethod, ...confirmationErrors],
    },
    schema: {
      operationId: 'removeIdentity',
      summary: 'Disconnect an identity',
      description:
        'The user can no longer log in with it. The consent at Kakao, Naver and Apple is revoked. The last way to log in stays.',
      params: Type.Object({ identity_id: PathId('`id` of an identity') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(login.remove(currentUser(request), request.params.identity_id, requestContext(request))),
  });
};

/** What the callback page gets, and nothing else that a provider sends (RFC 6749, appendix A). */
const shapes = { code: /^[ -~]{1,2000}$/, state: /^[\w-]{1,200}$/, error: /^\w{1,100}$/ };

function callbackPage({ providers, frontendUrl }: ProviderLogin, providerId: string, sent: unknown): string {
  const form = new Map<string, unknown>(Object.entries(sent ?? {}));
  const provider = providers.find(({ id }) => id === providerId);
  const page = new URLSearchParams(provider && { provider: provider.id });
  const read = (name: keyof typeof shapes) => {
    const value = form.get(name);
    return typeof value === 'string' && shapes[name].test(value) ? value : undefined;
  };
  const [code, state, error] = [read('code'), read('state'), read('error')];
  if (provider === undefined || code === undefined || state === undefined || error !== undefined) {
    page.set('error', error ?? 'invalid_request');
  } else {
    page.set('code', provider.callbackCode?.(code, form) ?? code);
    page.set('state', state);
  }
  return `${frontendUrl}/login/callback?${page}`;
}

/** Where providers send the browser. Changes nothing: it does not know which browser began the login. */
const callbackRoutes: Routes<ProviderLogin> = async (app, login) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) =>
    Object.fromEntries(await readForm(request)),
  );
  app.addContentTypeParser('*', async () => {
    throw new ApiError(authErrors.notForm);
  });

  const schemaOf = (operationId: string, summary: string, note = '') => ({
    operationId,
    summary,
    description: `Sends the browser on to \`{FRONTEND_URL}/login/callback\`, with \`provider\`, and \`code\` and \`state\` or \`error\`. Changes nothing.${note}`,
    params: schemas.ProviderPath,
    response: { 303: Type.Null({ description: 'To the callback page' }) },
  });

  app.get('/providers/:provider/callback/', {
    config: { access: 'anyone' },
    schema: schemaOf('receiveProviderRedirect', 'Where providers send the browser'),
    handler: async (request, reply) =>
      reply.redirect(callbackPage(login, request.params.provider, request.query), 303),
  });

  const formSummary = 'Where providers that send a form send the browser';
  app.post('/providers/:provider/callback/', {
    config: { access: 'anyone', errors: [authErrors.notForm] },
    // Whatever is wrong with the form, the page says so.
    attachValidation: true,
    schema: {
      ...schemaOf('receiveProviderForm', formSummary, ' Apple does so.'),
      consumes: ['application/x-www-form-urlencoded'],
      body: Ref(schemas.ProviderForm),
    },
    handler: async (request, reply) =>
      reply.redirect(callbackPage(login, request.params.provider, request.body), 303),
  });
};
