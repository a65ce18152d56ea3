import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { generatePrivateKey } from '../../src/infrastructure/config/private-keys.ts';
import { createTestApp } from '../support/app.ts';
import { contract } from '../support/contract.ts';
import { root } from '../support/files.ts';
import { createIdentityProvider } from '../support/identity-provider.ts';
import { accountStory, consentStory, providerStory, secondFactorStory } from './account-story.ts';
import { type Examples, recorder } from './recorder.ts';
import { adminStory, notificationStory, requestStory, shopStory, systemStory } from './shop-story.ts';

/*
 * The examples of openapi.yaml are what the service responded to one story. UPDATE_EXAMPLES=1 writes them.
 */

t.test('the examples of the document are what the service responds', async (t) => {
  const kakao = await createIdentityProvider(t, 'kakao');
  const naver = await createIdentityProvider(t, 'naver');
  const app = await createTestApp({
    LOGIN_PROVIDERS: 'kakao,naver',
    ...kakao.environment,
    ...naver.environment,
    JWT_PRIVATE_KEY: generatePrivateKey('ES256').pem,
  });
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
  await consentStory(t, examples);

  const file = join(root, 'src/openapi/examples.json');
  const sorted = Object.fromEntries(
    Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  const content = `${JSON.stringify(sorted, null, 2)}\n`;
  if (process.env['UPDATE_EXAMPLES']) await writeFile(file, content);
  t.equal(content, await readFile(file, 'utf8'), 'update them with UPDATE_EXAMPLES=1, then npm run openapi');

  const missing = contract.operations.filter(({ operationId, responses }) =>
    Object.entries(responses).some(
      ([status, { content }]) =>
        Number(status) < 300 &&
        content?.['application/json'] &&
        !Object.values(examples[operationId] ?? {}).some((example) => String(example.status) === status),
    ),
  );
  t.strictSame(
    missing.map(({ operationId }) => operationId),
    [],
  );
});
