import { currentUser } from '../../../http/authentication.ts';
import { errorsOfForms } from '../../../http/errors.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { authErrors, confirmationErrors, passwordErrors, passwordLimit } from '../errors.ts';
import * as schemas from '../schemas.ts';
import type { SecondFactorService } from './service.ts';

const codeErrors = [authErrors.invalidCode, authErrors.tooManySecondFactors];

export const secondFactorRoutes: Routes<SecondFactorService> = async (app, service) => {
  app.post('/login/second-factor/', {
    config: {
      ...operation('anyone', '로그인되었습니다.', 'You are logged in.'),
      limit: { group: 'second-factor', max: 30 },
      errors: [...codeErrors, authErrors.secondFactorTokenInvalid, authErrors.accountSuspended],
    },
    schema: {
      operationId: 'finishLogin',
      summary: 'Complete a login with a code',
      description:
        'Begins a session after `second_factor_required`, with a code of the authenticator app or a recovery code; each works once. A token has five tries. Wrong codes count like failed logins: after ten in 15 minutes every code is answered with 429 for a while, also with another token.',
      body: Ref(schemas.SecondFactorLogin),
      response: { 200: Ref(schemas.TokenPairWithUser) },
    },
    handler: async (request) => service.logIn(request.body, requestContext(request)),
  });

  app.post('/confirm/', {
    config: {
      ...operation('user', '본인 확인이 완료되었습니다.', 'Thank you, it is you.'),
      limit: passwordLimit,
      errors: [...passwordErrors, ...codeErrors],
    },
    schemaErrorFormatter: errorsOfForms({
      password: schemas.PasswordConfirmation,
      code: schemas.CodeConfirmation,
    }),
    schema: {
      operationId: 'confirmUser',
      summary: 'Confirm who the user is',
      description:
        'With the password, or with a code of the authenticator app or a recovery code. For ten minutes the session may then change the ways to log in and the second factor, and do without the password what an account without one does.',
      body: Ref(schemas.ConfirmationBody),
      response: { 200: Ref(schemas.Confirmation) },
    },
    handler: async (request) =>
      service.confirmUser(currentUser(request), request.body, requestContext(request)),
  });

  app.get('/second-factor/', {
    config: operation('user', '2단계 인증 상태를 조회했습니다.', 'Here is your second factor.'),
    schema: {
      operationId: 'getSecondFactor',
      summary: 'Whether a login needs a code',
      description: 'The state of the second factor.',
      response: { 200: Ref(schemas.SecondFactor) },
    },
    handler: async (request) => service.status(currentUser(request).id),
  });

  app.post('/second-factor/totp/', {
    config: {
      ...operation(
        'user',
        '인증 앱에 등록한 뒤 인증번호를 입력해 주세요.',
        'Add this to your authenticator app, then enter its code.',
      ),
      errors: [...confirmationErrors, authErrors.secondFactorExists],
    },
    schema: {
      operationId: 'startTotp',
      summary: 'Get a secret for an authenticator app',
      description:
        'Nothing is asked for at logins before `confirmTotp`. Called again before that, it gives another secret and the first one is void. Needs a login or a confirmation within ten minutes.',
      response: { 200: Ref(schemas.TotpSecret) },
    },
    handler: async (request) => service.begin(currentUser(request)),
  });

  app.post('/second-factor/totp/confirm/', {
    config: {
      ...operation(
        'user',
        '2단계 인증을 켰습니다. 복구 코드를 안전한 곳에 보관해 주세요.',
        'The second factor is on. Please keep the recovery codes in a safe place.',
      ),
      errors: [...codeErrors, ...confirmationErrors, authErrors.secondFactorExists],
    },
    schema: {
      operationId: 'confirmTotp',
      summary: 'Switch the second factor on',
      description:
        'Takes a code of the authenticator app, which is then used up. From now on logins need a code; a notice is mailed. Sessions stay. Needs a login or a confirmation within ten minutes.',
      body: Ref(schemas.TotpCode),
      response: { 200: Ref(schemas.RecoveryCodes) },
    },
    handler: async (request) =>
      service.confirm(currentUser(request), request.body.code, requestContext(request)),
  });

  app.post('/second-factor/recovery-codes/', {
    config: {
      ...operation('user', '복구 코드를 새로 만들었습니다.', 'Here are new recovery codes.'),
      errors: [...confirmationErrors, authErrors.secondFactorNotFound],
    },
    schema: {
      operationId: 'replaceRecoveryCodes',
      summary: 'Get new recovery codes',
      description: 'The old ones are void. Needs a login or a confirmation within ten minutes.',
      response: { 200: Ref(schemas.RecoveryCodes) },
    },
    handler: async (request) => service.replaceRecoveryCodes(currentUser(request), requestContext(request)),
  });

  app.delete('/second-factor/totp/', {
    config: {
      ...operation('user', '2단계 인증을 껐습니다.', 'The second factor is off.'),
      errors: confirmationErrors,
    },
    schema: {
      operationId: 'removeTotp',
      summary: 'Switch the second factor off',
      description:
        'Its recovery codes are void, and a notice is mailed. Nothing happens where it is off. Needs a login or a confirmation within ten minutes.',
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => emptyData(service.remove(currentUser(request), requestContext(request))),
  });
};
