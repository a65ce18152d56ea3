import t from 'tap';
import { passkeysOf } from '../../auth/passkeys.ts';
import { createTestApp, createUser } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';
import type { Json } from '../../support/json.ts';
import { serve } from '../../support/serve.ts';

t.test('a passkey of Chromium is registered and logs in', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  await serve(t, (_request, response) => response.setHeader('content-type', 'text/html').end('<body>'), port);
  const origin = `http://localhost:${port}`;
  const app = await createTestApp({ FRONTEND_URL: origin, WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const { startRegistration, finishRegistration, startLogin, finishLogin } = passkeysOf(app);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });

  /** What a page does with the options. @returns the credential, or the name of the error */
  const ask = (method: 'create' | 'get', parse: string, options: Json) =>
    page.evaluate<Json>(`navigator.credentials
      .${method}({ publicKey: PublicKeyCredential.${parse}(${JSON.stringify(options)}) })
      .then((credential) => credential.toJSON(), ({ name }) => name)`);
  const create = (options: Json) => ask('create', 'parseCreationOptionsFromJSON', options);

  const user = await createUser(app);
  const { options, flow_token } = (await startRegistration(user.token)).body.data;
  const added = await finishRegistration(user.token, { flow_token, credential: await create(options) });
  t.match(added.body, { success: true, data: { is_synced: false } });
  const again = (await startRegistration(user.token)).body.data;
  t.equal(await create(again.options), 'InvalidStateError', 'one authenticator keeps one passkey');

  for (const _ of ['first', 'second']) {
    const login = (await startLogin()).body.data;
    const credential = await ask('get', 'parseRequestOptionsFromJSON', login.options);
    const response = await finishLogin({ flow_token: login.flow_token, credential });
    t.match(response.body, { success: true, data: { user: { id: user.id } } });
  }
});
