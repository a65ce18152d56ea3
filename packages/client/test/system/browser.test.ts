import t from 'tap';
import { addAuthenticator, noBrowser } from '../../../../test/support/browser.ts';
import { until } from '../../../../test/support/until.ts';
import { evaluate, logIn, startBrowser } from './site.ts';

t.test('in a browser', { skip: noBrowser }, async (t) => {
  const { service, openBrowser, openTab } = await startBrowser(t);

  t.test('add a passkey and log in with it, also from the autofill', async (t) => {
    const { first, receiver } = await openBrowser(t);
    const devtools = await addAuthenticator(first);
    t.match(await evaluate(first, `dure.passkeys.register({ name: '내 휴대폰' })`), { name: '내 휴대폰' });
    const again = 'dure.passkeys.register().catch(({ name }) => name)';
    t.equal(await evaluate(first, again), 'InvalidStateError', 'this authenticator has one already');
    for (const options of ['', '{ conditional: true }']) {
      await evaluate(first, 'dure.auth.logOut()');
      const id = await evaluate(first, `dure.passkeys.logIn(${options}).then(({ user }) => user.id)`);
      t.equal(id, receiver.user.id, options);
      t.equal(await evaluate(first, 'dure.userId()'), receiver.user.id);
    }
    // Without the user, the autofill waits until the button ends it.
    await devtools.send('WebAuthn.disable');
    const started = first.waitForResponse(`${service.baseUrl}/auth/passkeys/login/start/`);
    await evaluate(
      first,
      `void dure.passkeys.logIn({ conditional: true }).catch(({ name }) => { globalThis.autofill = name; })`,
    );
    await started;
    await evaluate(
      first,
      `globalThis.leaving = new AbortController();
       void dure.passkeys.logIn({ signal: leaving.signal }).catch(({ message }) => { globalThis.left = message; })`,
    );
    await until('the end of the autofill', () => evaluate(first, 'globalThis.autofill'));
    t.equal(await evaluate(first, 'autofill'), 'AbortError');
    await evaluate(first, `leaving.abort(new Error('left'))`);
    t.equal(await until('the end', () => evaluate(first, 'globalThis.left')), 'left');
  });

  t.test('an upload reports its progress, and can be aborted', async (t) => {
    const { first } = await openBrowser(t);
    const image = `await ((canvas) => canvas.getContext('2d') && canvas.convertToBlob())(new OffscreenCanvas(640, 480))`;
    const uploaded = await evaluate(
      first,
      `(async () => {
        const steps = [];
        const image = ${image};
        const { width } = await dure.images.upload({ image }, { onUploadProgress: (step) => steps.push(step) });
        const { loaded, total } = steps.at(-1);
        return { width, isComplete: loaded === total && total >= image.size };
      })()`,
    );
    t.same(uploaded, { width: 640, isComplete: true });
    const aborted = await evaluate(
      first,
      `(async () => {
        const controller = new AbortController();
        const onUploadProgress = () => controller.abort(new Error('enough'));
        const options = { signal: controller.signal, onUploadProgress };
        return dure.images.upload({ image: ${image} }, options).catch(({ message }) => message);
      })()`,
    );
    t.equal(aborted, 'enough');
    const text = `dure.images.upload({ image: new Blob(['text']) }, { onUploadProgress() {} })`;
    t.equal(await evaluate(first, `${text}.catch(({ code }) => code)`), 'invalid_image');
  });

  t.test('tokens are kept in memory where storage is blocked', async (t) => {
    const { receiver, context } = await openBrowser(t);
    await context.addInitScript(`Object.defineProperty(globalThis, 'localStorage', {
      get() { throw new DOMException('blocked', 'SecurityError'); } })`);
    const tab = await openTab(context);
    t.equal(await evaluate(tab, 'dure.isSignedIn()'), false);
    await logIn(tab, receiver);
    t.equal(await evaluate(tab, 'dure.auth.getCurrentUser().then(({ id }) => id)'), receiver.user.id);
  });
});
