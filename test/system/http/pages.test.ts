import axe from 'axe-core';
import type { FastifyInstance } from 'fastify';
import type { Page } from 'playwright-core';
import t from 'tap';
import { createDevMailbox, devMailboxRoutes } from '../../../src/development/mailbox.ts';
import type { Language } from '../../../src/http/language.ts';
import { type Mail, render } from '../../mail/samples.ts';
import { createTestApp } from '../../support/app.ts';
import { launchBrowser, noBrowser } from '../../support/browser.ts';
import { listen } from '../../support/raw-http.ts';

/** The width of small phones, in CSS pixels. */
const narrow = 360;
const phone = { viewport: { width: narrow, height: 740 }, isMobile: true };

t.test('pages of the service on a phone', { skip: noBrowser }, async (t) => {
  const mailbox = createDevMailbox();
  const routes = (scope: FastifyInstance) => devMailboxRoutes(scope, { mailbox, from: 'Dure' });
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, { routes });
  const origin = `http://localhost:${await listen(app.app)}`;
  const browser = await launchBrowser(t);

  t.test('Swagger UI', async (t) => {
    const page = await browser.newPage(phone);
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));

    await page.goto(`${origin}/docs/`);

    t.test('the first screen has the introduction and "Authorize"', async (t) => {
      const button = page.locator('.scheme-container .authorize').first();
      await button.waitFor();
      await page.getByText('Shops register their store').waitFor();
      const { y = Number.NaN, height = 0 } = (await button.boundingBox()) ?? {};
      t.ok(y + height < 740, `"Authorize" ends at ${y + height}`);
      await button.click();
      await page.getByRole('heading', { name: 'Available authorizations' }).waitFor();
      await page.getByRole('button', { name: 'Close', exact: true }).click();
    });

    t.test('the list can be filtered', async (t) => {
      const tags = page.locator('.opblock-tag');
      const all = await tags.count();
      const filter = page.locator('.operation-filter-input');
      await filter.fill('stores');
      await page.locator('#operations-tag-auth').waitFor({ state: 'detached' });
      t.ok((await tags.count()) < all);
      for (const text of ['uploadImage', 'upload an', '/images/']) {
        await filter.fill(text);
        await page.locator('#operations-images-uploadImage').waitFor();
        t.equal(await tags.count(), 1, text);
      }
      await filter.fill('');
      await page.locator('#operations-tag-auth').waitFor();
      t.equal(await page.locator('.opblock').count(), 0, 'folded again');
    });

    /** Unfolds an operation, if it is not unfolded yet. */
    async function open(tag: string, operationId: string) {
      const ofTag = page.locator(`#operations-tag-${tag}`);
      if ((await ofTag.getAttribute('data-is-open')) !== 'true') await ofTag.click();
      const operation = page.locator(`#operations-${tag}-${operationId}`);
      const summary = operation.locator('.opblock-summary-control');
      if ((await summary.getAttribute('aria-expanded')) !== 'true') await summary.click();
      await operation.locator('.responses-wrapper').first().waitFor();
      return operation;
    }

    async function execute(tag: string, operationId: string): Promise<string> {
      const operation = await open(tag, operationId);
      const clear = operation.locator('.btn-clear');
      // Else the status of an earlier try may be read.
      if ((await clear.count()) > 0) await clear.press('Enter');
      // A click would miss the button where the answer of an earlier operation moves it meanwhile.
      await operation.getByRole('button', { name: 'Execute' }).press('Enter');
      const status = operation.locator('.live-responses-table .response-col_status').nth(1);
      return (await status.innerText()).trim().slice(0, 3);
    }

    t.test('failures are folded', async (t) => {
      const operation = await open('auth', 'signUp');
      const failures = operation.locator('.failures > summary');
      t.match(await failures.innerText(), /^Failures \(4\): 400, 409, 429, default$/);
      const statuses = () => operation.locator('.response[data-code]').evaluateAll(statusesOf);
      t.strictSame(await statuses(), ['201']);
      await failures.click();
      await operation.locator('details .response').first().waitFor();
      t.strictSame(await statuses(), ['201', '400', '409', '429', 'default']);
    });

    t.test('nothing is wider than the screen', async (t) => {
      for (const [tag, operationId] of [
        ['auth', 'signUp'],
        ['posts', 'listPosts'],
        ['images', 'uploadImage'],
        ['notifications', 'streamNotifications'],
      ] as const) {
        await open(tag, operationId);
        t.equal(await widthOf(page), narrow, operationId);
      }
      t.equal(await page.title(), 'Dure API');
    });

    t.test('the first try of an operation without a login succeeds', async (t) => {
      t.equal(await execute('auth', 'signUp'), '201');
      t.equal(await execute('auth', 'logIn'), '200', 'with the account of the sign-up');
      t.equal(await execute('stores', 'listStoreCategories'), '200');
    });

    t.test('a button logs in as a new shop', async (t) => {
      t.equal(await execute('stores', 'getOwnStore'), '401');
      await page.getByRole('button', { name: 'Log in as a new demo shop' }).click();
      await page.getByText(/^Logged in as demo-\d+ with the password \d+$/).waitFor();
      t.equal(await execute('stores', 'getOwnStore'), '200');
      await page.reload();
      t.equal(await execute('stores', 'getOwnStore'), '200', 'also after a reload');
    });

    t.test('the stream has instructions in place of the button', async (t) => {
      const operation = await open('notifications', 'streamNotifications');
      t.equal(await operation.getByRole('button', { name: 'Execute' }).count(), 0);
      const note = await operation.locator('.stream-note').innerText();
      t.match(note, `${origin}/api/v1/notifications/stream/`);
      t.match(note, /curl -N[\s\S]*@dure\/client/);
    });

    t.test('the policy of the page rejects none of its scripts', async (t) => {
      t.strictSame(problems, []);
    });
  });

  t.test('the dev mailbox', async (t) => {
    const url = `https://dure.example/reset-password?uid=3f1ab0e2-5b1f-4e0e-9a59-0d4a1b2c3d4e&token=${'a'.repeat(43)}`;
    const page = `${origin}/dev/mailbox/`;
    let sent = 0;
    async function send(mail: Mail, language: Language) {
      sent += 1;
      const to = `neighbour-with-a-long-address-${sent}@example.com`;
      await mailbox.send({ to, ...render(mail, language), idempotencyKey: String(sent) });
    }
    await send({ kind: 'verification_code', code: '048213', url, minutes: 10 }, 'ko');
    await send({ kind: 'reset_link', name: '김민지', url, minutes: 60 }, 'en');

    for (const colorScheme of ['light', 'dark'] as const) {
      t.test(`in a ${colorScheme} scheme`, async (t) => {
        const context = await browser.newContext({ ...phone, colorScheme, locale: 'ko-KR' });
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
        t.equal(await widthOf(tab), narrow, 'nothing is wider than the screen');
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
});

/** A wider document makes the layout of a phone wider, too, so both are looked at. */
async function widthOf(page: Page): Promise<number> {
  return Number(await page.evaluate('Math.max(innerWidth, document.documentElement.scrollWidth)'));
}

const statusesOf = (rows: { getAttribute(name: string): string | null }[]) =>
  rows.map((row) => row.getAttribute('data-code'));
