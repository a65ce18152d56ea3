import type { Test } from 'tap';
import { generatePrivateKey } from '../../src/infrastructure/config/private-keys.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createIdentityProvider } from '../support/identity-provider.ts';
import { accountStory, consentStory, providerStory, secondFactorStory } from './account-story.ts';
import { type Examples, recorder } from './recorder.ts';
import { adminStory, notificationStory, requestStory, shopStory, systemStory } from './shop-story.ts';

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
    JWT_PRIVATE_KEY: generatePrivateKey('ES256').pem,
  };
  const app = await createTestApp(environment, databases.main ? { databaseUrl: databases.main } : {});
  const examples: Examples = {};
  const show = recorder(app, examples);
  const token = await accountStory(app, show);
  await secondFactorStory(app, show, token);
  const shops = await shopStory(app, show, token);
  await requestStory(app, show, shops);
  await notificationStory(app, show, shops);
  await adminStory(app, show, shops);
  await systemStory(show);
  await providerStory(app, show, { token, kakao });
  await consentStory(t, examples, databases.terms);

  return { examples, app };
}
