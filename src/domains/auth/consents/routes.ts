import { currentUser } from '../../../http/authentication.ts';
import { httpErrors } from '../../../http/errors.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { Ref } from '../../../http/schemas.ts';
import { ConsentChanges, ConsentList, GivenConsents } from '../schemas.ts';
import type { ConsentService } from './service.ts';

export const consentRoutes: Routes<ConsentService> = async (app, consents) => {
  app.get('/consents/', {
    config: operation('anyone', '동의 항목을 조회했습니다.', 'Here is what users can agree to.'),
    schema: {
      operationId: 'listConsents',
      summary: 'What users can agree to',
      description:
        'For the form of a sign-up. Empty where the operator has configured no terms: a sign-up then needs no `consents`.',
      response: { 200: Ref(ConsentList) },
    },
    handler: async () => consents.list(),
  });

  app.get('/me/consents/', {
    config: operation('user', '동의 내역을 조회했습니다.', 'Here is what you have agreed to.'),
    schema: {
      operationId: 'getOwnConsents',
      summary: 'Consents of the user',
      description: 'The latest answer to each question; what the user never answered is not listed.',
      response: { 200: Ref(GivenConsents) },
    },
    handler: async (request) => ({ items: await consents.find(currentUser(request).id) }),
  });

  app.patch('/me/consents/', {
    config: {
      ...operation('user', '동의 내역을 변경했습니다.', 'Your answers have been saved.'),
      errors: [httpErrors.quotaExceeded],
    },
    schema: {
      operationId: 'updateOwnConsents',
      summary: 'Agree to a new version, give or withdraw the marketing consent',
      description:
        'Records each answer that changes something with its time and the address of the client; earlier answers stay. Other versions than those of `listConsents` are `not_allowed`; where it has none, any date is taken. The consent to terms and privacy policy ends with the account.',
      body: Ref(ConsentChanges),
      response: { 200: Ref(GivenConsents) },
    },
    handler: async (request) => ({
      items: await consents.change(currentUser(request), request.body, requestContext(request)),
    }),
  });
};
