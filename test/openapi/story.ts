import { createPrivateKey } from 'node:crypto';
import type { Test } from 'tap';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createIdentityProvider } from '../support/identity-provider.ts';
import { accountStory, consentStory, providerStory, secondFactorStory } from './account-story.ts';
import { type Examples, keepEvents, recorder } from './recorder.ts';
import { adminStory, notificationStory, requestStory, shopStory, systemStory } from './shop-story.ts';

/** The example of RFC 7515, appendix A.3. */
const key = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
};

/**
 * Calls every operation that answers with JSON, as one story.
 *
 * @param databases empty ones, by default of the server of the tests: `terms` is for the story of a service with terms
 * @returns what was sent and responded, and the app
 * @throws when a call does not succeed, or its response is not as documented
 */
export async function tellStory(
  t: Test,
  databases: { main?: string; terms?: string } = {},
): Promise<{ examples: Examples; app: TestApp }> {
  const kakao = await createIdentityProvider(t, 'kakao');
  const naver = await createIdentityProvider(t, 'naver');
  const environment = {
    LOGIN_PROVIDERS: 'kakao,naver',
    ...kakao.environment,
    ...naver.environment,
    JWT_PRIVATE_KEY: createPrivateKey({ key, format: 'jwk' })
      .export({ type: 'pkcs8', format: 'pem' })
      .toString(),
    VAPID_PRIVATE_KEY: key.d,
  };
  const app = await createTestApp(environment, databases.main ? { databaseUrl: databases.main } : {});
  const examples: Examples = {};
  const show = recorder(app, examples);
  const token = await accountStory(app, show);
  await secondFactorStory(app, show, token);
  const shops = await shopStory(app, show, token);
  keepEvents(examples, await requestStory(app, show, shops));
  await notificationStory(app, show, shops);
  await adminStory(app, show, shops);
  await systemStory(show);
  await providerStory(app, show, { token, kakao });
  await consentStory(t, examples, databases.terms);

  return { examples, app };
}
