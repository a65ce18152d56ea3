import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { password } from '../../../test/support/app.ts';

/** A person with a browser of their own. */
export interface Visitor {
  username: string;
  email: string;
  name: string;
  context: BrowserContext;
  page: Page;
}

/** Opens a browser for somebody, in Korean. */
export async function openVisitor(
  browser: Browser,
  baseURL: string,
  person: { username: string; name: string },
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL,
    locale: 'ko-KR',
    viewport: { width: 360, height: 740 },
    reducedMotion: 'reduce',
  });
  return { ...person, email: `${person.username}@example.com`, context, page: await context.newPage() };
}

/** Steps of a story, for one after the other: after one that failed, the others would only wait for what never comes. */
export function stepsOf(t: Test) {
  return (name: string, run: (t: Test) => Promise<void>) =>
    t.test(name, { skip: !t.passing() && 'a step before it has failed' }, run);
}

/** Fills in the form of the sign-up. */
export async function fillSignUp({ page, username, email, name }: Visitor): Promise<void> {
  await page.goto('/signup');
  await page.getByLabel('이름', { exact: true }).fill(name);
  await page.getByLabel('이메일').fill(email);
  await page.getByLabel('아이디').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill(password);
}

/** Registers a store with one category. @param fill fills in what else the form has */
export async function registerStore(
  { page }: Visitor,
  store: string,
  category: string,
  fill?: () => Promise<void>,
): Promise<void> {
  await page.getByRole('link', { name: '가게 등록하기' }).click();
  await page.getByLabel('가게 이름').fill(store);
  await page.getByLabel(category).check();
  await fill?.();
  await page.getByRole('button', { name: '등록하기', exact: true }).click();
  await page.getByRole('heading', { name: store, level: 1 }).waitFor();
}

const { source: axe }: { source: string } = createRequire(import.meta.url)('axe-core');

/**
 * Checks what is shown: all rules in the light colours, the contrast in the dark ones, too.
 *
 * @returns one line for each element that violates a rule
 */
export async function violations(page: Page): Promise<string[]> {
  // Not as a script of the page, whose policy allows none.
  await page.evaluate(axe);
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

/** Logs in on the login page. */
export async function logInAs({ page }: Pick<Visitor, 'page'>, username: string, next = '/'): Promise<void> {
  await page.goto(`/login?next=${encodeURIComponent(next)}`);
  await page.getByLabel('아이디 또는 이메일').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill(password);
  await page.getByRole('button', { name: '로그인', exact: true }).click();
  await page.getByRole('navigation', { name: '주 메뉴' }).waitFor();
}
