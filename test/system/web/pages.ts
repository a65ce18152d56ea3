import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds on the pages of a store that has written a post. */
export async function violationsForOwner(page: Page, post: string): Promise<string[]> {
  const found = await violationsAt(page, [
    '/',
    `${post}/edit`,
    '/posts/new',
    '/requests',
    '/partners',
    '/stores',
    '/notifications',
    '/store',
    '/store/edit',
    '/account',
    '/sessions',
    '/nowhere',
    post,
  ]);
  await page.getByRole('button', { name: '삭제', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  return [...found, ...(await violations(page))];
}

/** What axe finds on the pages of another store: its request, the store of the post, and a form with what is wrong in it. */
export async function violationsForOther(page: Page, post: string): Promise<string[]> {
  const found = await violationsAt(page, ['/requests?box=sent', post]);
  await page.getByRole('button', { name: '요청 보내기', exact: true }).click();
  await page.getByText('입력값을 확인해 주세요').waitFor();
  found.push(...(await violations(page)));
  await page.getByRole('link', { name: '두레 카페' }).click();
  await page.getByRole('region', { name: '가게 정보' }).waitFor();
  return [...found, ...(await violations(page))];
}

/** What axe finds on the pages that need no login. */
export function violationsForVisitor(page: Page): Promise<string[]> {
  return violationsAt(page, [
    '/',
    '/login',
    '/signup',
    '/find-id',
    '/reset-password-request',
    '/reset-password?uid=a&token=b',
    '/verify-email?token=a',
    '/undo-email-change?token=a',
  ]);
}

async function violationsAt(page: Page, paths: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    await page.locator('h1').waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    found.push(...(await violations(page)));
  }
  return found;
}

/**
 * Checks what is shown: all rules in the light colours, the contrast in the dark ones, too.
 *
 * @returns one line for each element that violates a rule
 */
async function violations(page: Page): Promise<string[]> {
  await page.addScriptTag({ path: axe });
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await page.evaluate<AxeResults>(
    'axe.run({ runOnly: ["color-contrast"], resultTypes: ["violations"] })',
  );
  return [...light.violations, ...dark.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${page.url()} ${id}: ${html}`),
  );
}
