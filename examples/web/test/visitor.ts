import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { logInAs } from './steps.ts';

/** A person with a browser of their own. */
export type Visitor = Awaited<ReturnType<typeof openVisitor>>;

/** Opens a browser for somebody, in Korean. */
export async function openVisitor(
  browser: Browser,
  baseURL: string,
  person: { username: string; name: string },
) {
  const viewport = { width: 360, height: 740 };
  const context = await browser.newContext({ baseURL, locale: 'ko-KR', viewport, reducedMotion: 'reduce' });
  return { ...person, email: `${person.username}@example.com`, context, page: await context.newPage() };
}

/** Opens browsers until the end of their test: for guests, or, with a path, for accounts that are logged in and look at it. */
export const visitsTo =
  ({ browser, origin }: { browser: Browser; origin: string }) =>
  async (t: Test, username = 'visitor', path?: string): Promise<Visitor> => {
    const visitor = await openVisitor(browser, origin, { username, name: '손님' });
    t.teardown(() => visitor.context.close());
    if (path) await logInAs(visitor.page, username, path);
    return visitor;
  };

/** Steps of a story, for one after the other: after one that failed, the others would only wait for what never comes. */
export function stepsOf(t: Test) {
  return (name: string, run: (t: Test) => Promise<void>) =>
    t.test(name, { skip: !t.passing() && 'a step before it has failed' }, run);
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
