import { Type } from '@sinclair/typebox';
import { currentUser } from '../../../http/authentication.ts';
import { PageQuery, paginate } from '../../../http/pagination.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, emptyData, isId, PathId, Ref } from '../../../http/schemas.ts';
import type { AuthContext } from '../context.ts';
import { authErrors, confirmationErrors } from '../errors.ts';
import { TokenPairWithUser } from '../schemas.ts';
import * as schemas from './schemas.ts';
import { createPasskeys } from './service.ts';

export const passkeyRoutes: Routes<AuthContext> = async (app, auth) => {
  const passkeys = createPasskeys(auth);
  const params = Type.Object({ passkey_id: PathId('`id` of a passkey') });

  app.post('/passkeys/login/start/', {
    config: operation('anyone', '패스키로 로그인해 주세요.', 'Please use your passkey.'),
    schema: {
      operationId: 'startPasskeyLogin',
      summary: 'Start a login with a passkey',
      description:
        'Pass the `options` to `navigator.credentials.get()`, and what it gives to `finishPasskeyLogin`. They name no account: the authenticator offers the accounts that it has for this service.',
      response: { 200: Ref(schemas.PasskeyLoginStart) },
    },
    handler: async () => passkeys.startLogin(),
  });

  app.post('/passkeys/login/finish/', {
    config: {
      ...operation('anyone', '로그인되었습니다.', 'You are logged in.'),
      limit: { group: 'login', max: 30 },
      errors: [authErrors.passkeyRejected, authErrors.accountSuspended],
    },
    schema: {
      operationId: 'finishPasskeyLogin',
      summary: 'Log in with a passkey',
      description:
        'Begins a session as `logIn` does. A passkey counts as both factors, because the authenticator verifies its user. After any error, start again.',
      body: Ref(schemas.PasskeyLogin),
      response: { 200: Ref(TokenPairWithUser) },
    },
    handler: async (request) => passkeys.finishLogin(request.body, requestContext(request)),
  });

  app.post('/passkeys/register/start/', {
    config: {
      ...operation('user', '기기에서 패스키를 만들어 주세요.', 'Please create a passkey on your device.'),
      errors: [...confirmationErrors, authErrors.tooManyPasskeys],
    },
    schema: {
      operationId: 'startPasskeyRegistration',
      summary: 'Start to add a passkey',
      description:
        'Pass the `options` to `navigator.credentials.create()`, and what it gives to `finishPasskeyRegistration`, in the same session. An account has at most ten passkeys.',
      response: { 200: Ref(schemas.PasskeyRegistrationStart) },
    },
    handler: async (request) => passkeys.startRegistration(currentUser(request)),
  });

  app.post('/passkeys/register/finish/', {
    config: {
      ...operation('user', '패스키를 등록했습니다.', 'Your passkey has been added.'),
      errors: [...confirmationErrors, authErrors.passkeyRefused, authErrors.tooManyPasskeys],
    },
    schema: {
      operationId: 'finishPasskeyRegistration',
      summary: 'Add a passkey',
      description: 'A notice is mailed to a verified address. After `passkey_refused`, start again.',
      body: Ref(schemas.NewPasskey),
      response: { 201: Ref(schemas.Passkey) },
    },
    handler: async (request) =>
      passkeys.finishRegistration(currentUser(request), request.body, requestContext(request)),
  });

  app.get('/passkeys/', {
    config: operation('user', '패스키를 조회했습니다.', 'Here are your passkeys.'),
    schema: {
      operationId: 'listPasskeys',
      summary: 'Passkeys of the user',
      description: 'Newest first.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(schemas.PasskeyPage) },
    },
    handler: async (request) => {
      const find = passkeys.list.bind(null, currentUser(request).id);
      return paginate(request.query, { isId, find, present: schemas.toPasskey });
    },
  });

  app.patch('/passkeys/:passkey_id/', {
    config: {
      ...operation('user', '패스키 이름을 변경했습니다.', 'Your passkey has been renamed.'),
      errors: [...confirmationErrors, authErrors.passkeyNotFound],
    },
    schema: {
      operationId: 'updatePasskey',
      summary: 'Rename a passkey',
      description: 'The name is shown to the user only. Needs a recent login or confirmation.',
      params,
      body: Ref(schemas.PasskeyChanges),
      response: { 200: Ref(schemas.Passkey) },
    },
    handler: async (request) =>
      passkeys.rename(currentUser(request), request.params.passkey_id, request.body),
  });

  app.delete('/passkeys/:passkey_id/', {
    config: {
      ...operation('user', '패스키를 삭제했습니다.', 'Your passkey has been removed.'),
      errors: [...confirmationErrors, authErrors.passkeyNotFound, authErrors.lastLoginMethod],
    },
    schema: {
      operationId: 'deletePasskey',
      summary: 'Remove a passkey',
      description:
        'It does not work any more; sessions that began with it go on. A notice is mailed to a verified address. The only way to log in to an account stays (`last_login_method`).',
      params,
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(passkeys.remove(currentUser(request), request.params.passkey_id, requestContext(request))),
  });
};
