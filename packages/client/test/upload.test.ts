import { createClient, memoryStorage } from '@dure/client';
import t, { type Test } from 'tap';
import { pause } from '../../../test/support/time.ts';
import { replace } from '../../../test/support/timers.ts';
import { caught } from './clients.ts';

/** What a client uses of XMLHttpRequest, which Node.js does not have. */
class FakeRequest {
  upload: { onprogress?: (event: object) => void } = {};
  status = 201;
  responseText = '{"message":"","data":{"id":1}}';
  responseURL = '';
  onload?: () => void;
  onabort?: () => void;
  open(_method: string, url: string) {
    this.responseURL = new URL(url).href;
  }
  setRequestHeader() {}
  getAllResponseHeaders = () => '';
  abort = () => this.onabort?.();
  send() {}
}

/** A client whose uploads are sent by `send`. */
function uploading(t: Test, send: (request: FakeRequest) => void, baseUrl = 'https://api.example.com') {
  const XMLHttpRequest = class extends FakeRequest {
    override send = () => send(this);
  };
  replace(t, globalThis, { XMLHttpRequest });
  const { images } = createClient({ baseUrl, storage: memoryStorage() });
  return (options?: Parameters<typeof images.upload>[1]) =>
    images.upload({ image: new Blob(['text']) }, options);
}

t.test('an upload may take longer than its timeout while it progresses', async (t) => {
  let steps = 0;
  const upload = uploading(t, (request) => {
    const timer = setInterval(() => {
      request.upload.onprogress?.({ loaded: steps, total: 15 });
      if (++steps < 15) return;
      clearInterval(timer);
      request.onload?.();
    }, pause);
  });
  for (const onUploadProgress of [undefined, () => undefined]) {
    steps = 0;
    t.match(await upload({ timeout: 10 * pause, onUploadProgress }), { id: 1 });
    t.equal(steps, 15);
  }
});

t.test('React Native: an upload ends by its timeout and by its signal, without DOMException', async (t) => {
  replace(t, globalThis, { DOMException: undefined });
  const leaving = new AbortController();
  const silent = uploading(t, () => undefined);
  t.match(await caught(silent({ timeout: pause })), { name: 'TimeoutError' });
  const left = uploading(t, () => leaving.abort(new Error('left')));
  t.match(await caught(left({ signal: leaving.signal })), { message: 'left' });
});

t.test('a redirect of an upload is no response of the API', async (t) => {
  const redirected = uploading(t, (request) => {
    request.responseURL = 'https://other.example.com/api/v1/images/';
    request.onload?.();
  });
  t.match(await caught(redirected()), { name: 'UnexpectedResponseError', status: 0, message: /a redirect/ });
  const send = (request: FakeRequest) => request.onload?.();
  t.match(await uploading(t, send, 'https://API.example.com:443')(), { id: 1 }, 'the same in other letters');
});
