import { createPrivateKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { contract } from '../support/contract.ts';
import { root } from '../support/files.ts';
import { createIdentityProvider } from '../support/identity-provider.ts';
import { accountStory, consentStory, providerStory, secondFactorStory } from './account-story.ts';
import { type Examples, keepEvents, recorder } from './recorder.ts';
import { adminStory, notificationStory, requestStory, shopStory, systemStory } from './shop-story.ts';

/*
 * The examples of openapi.yaml are what the service responded to one story. UPDATE_EXAMPLES=1 writes them.
 */

/** The example of RFC 7515, appendix A.3. */
const key = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
};

t.test('the examples of the document are what the service responds', async (t) => {
  const kakao = await createIdentityProvider(t, 'kakao');
  const naver = await createIdentityProvider(t, 'naver');
  const app = await createTestApp({
    LOGIN_PROVIDERS: 'kakao,naver',
    ...kakao.environment,
    ...naver.environment,
    JWT_PRIVATE_KEY: createPrivateKey({ key, format: 'jwk' })
      .export({ type: 'pkcs8', format: 'pem' })
      .toString(),
    VAPID_PRIVATE_KEY: key.d,
  });
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
