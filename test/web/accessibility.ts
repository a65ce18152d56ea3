import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

/** Puts axe into every page that the browser context opens. */
export async function addAxe(context: BrowserContext): Promise<void> {
  const path = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  await context.addInitScript(await readFile(path, 'utf8'));
}

/**
 * Checks what is shown: all rules in the light colours, the contrast in the dark ones, too.
 *
 * @returns one line for each element that violates a rule
 */
export async function violations(page: Page): Promise<string[]> {
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
