import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTwoVerifiedShops, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';
import { until } from '../support/until.ts';

/** What each mail that the provider has not taken yet waits for. */
const waiting: (() => void)[] = [];
let isSlow = false;

const app = await createTestApp(
  {},
  { deliver: () => new Promise((resolve) => (isSlow ? waiting.push(resolve) : resolve())) },
);
t.teardown(app.close);
const { sent, settled } = app.mails;

/** Lets the provider take one mail. @returns the mail that is sent next */
async function mailAfterNext() {
  const before = sent.length;
  waiting.shift()?.();
  await until('the next mail', () => sent.length > before);
  return sent[before];
}

t.test(
  'codes, reset links and user ids are sent before the mails that wait for a slow provider',
  async (t) => {
    const { sender, receiver } = await openTwoVerifiedShops(app);
    const posts = await inParallel(12, () => createPost(app, receiver.token));
    await settled();
    await app.pool.query('DELETE FROM mail_sends');
    isSlow = true;
    for (const post of posts) await sendRequest(app, sender, post);
    await until('all senders are busy', () => waiting.length === 2);

    const recover = (path: string, email: string) => app.call('POST', `/auth/${path}/`, { body: { email } });
    await recover('email-verify/send', 'waiting@example.com');
    await recover('reset-password-request', receiver.email);
    await recover('find-id', sender.email);
    t.match(await mailAfterNext(), { to: 'waiting@example.com', text: /\b\d{6}\b/ });
    t.match(await mailAfterNext(), { to: receiver.email, text: '/reset-password?' });
    t.match(await mailAfterNext(), { to: sender.email, text: sender.username });
    t.match(await mailAfterNext(), { to: receiver.email, text: '/requests/' });

    isSlow = false;
    for (const take of waiting.splice(0)) take();
    await settled();
    t.equal(sent.filter(({ text }) => text.includes('/requests/')).length, 12);
  },
);
