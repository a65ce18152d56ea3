import axe from 'axe-core';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { createDevMailbox, devMailboxRoutes } from '../../../src/development/mailbox.ts';
import type { Language } from '../../../src/http/language.ts';
import { type Mail, render } from '../../mail/samples.ts';
import { createTestApp } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';
import { listen } from '../../support/raw-http.ts';

/** The width of small phones, in CSS pixels. */
const narrow = 360;
const url = `https://dure.example/reset-password?uid=3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e&token=${'a'.repeat(43)}`;

t.test('the dev mailbox in a browser', { skip: noBrowser }, async (t) => {
  const mailbox = createDevMailbox();
  const routes = (scope: FastifyInstance) => devMailboxRoutes(scope, { mailbox, from: 'Dure' });
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, { routes });
  const page = `http://localhost:${await listen(app.app)}/dev/mailbox/`;
  let sent = 0;
  async function send(mail: Mail, language: Language) {
    sent += 1;
    const to = `neighbour-with-a-long-address-${sent}@example.com`;
    await mailbox.send({ to, ...render(mail, language), idempotencyKey: String(sent) });
  }
  await send({ kind: 'verification_code', code: '048213', url, minutes: 10 }, 'ko');
  await send({ kind: 'reset_link', name: '김민지', url, minutes: 60 }, 'en');

  const browser = await launchBrowser(t);

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`on a phone, ${colorScheme}`, async (t) => {
      const context = await browser.newContext({
        viewport: { width: narrow, height: 740 },
        isMobile: true,
        colorScheme,
        locale: 'ko-KR',
      });
      t.teardown(() => context.close());
      const tab = await context.newPage();
      const problems: string[] = [];
      tab.on('console', (message) => problems.push(message.text()));
      tab.on('pageerror', (error) => problems.push(String(error)));
      await tab.goto(page);
      t.equal(await tab.getByText('048213').first().isVisible(), false, 'the older mail is folded');

      for (const summary of await tab.locator('summary:visible').all()) await summary.click();
      await tab.locator('article').first().locator('summary').first().click();
      await tab.locator('article').first().locator('.html > summary').click();
      t.ok(await tab.getByText('048213').first().isVisible());
      const width = await tab.evaluate('Math.max(innerWidth, document.documentElement.scrollWidth)');
      t.equal(width, narrow, 'nothing is wider than the screen');
      t.strictSame(problems, [], 'the policy of the page rejects nothing of it');

      await tab.evaluate(axe.source);
      const { violations } = (await tab.evaluate('axe.run()')) as axe.AxeResults;
      t.strictSame(violations, []);
    });
  }

  t.test('a new email appears by itself', async (t) => {
    const tab = await browser.newPage({ locale: 'ko-KR' });
    await tab.goto(page);
    await send({ kind: 'verification_code', code: '777123', url, minutes: 10 }, 'ko');
    await tab.locator('.code', { hasText: '777123' }).waitFor();
    t.equal(await tab.locator('article details[open]').count(), 1);
  });
});
