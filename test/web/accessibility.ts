import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Checks what is shown: all rules in the light colours, the contrast in the dark ones, too.
 *
 * @returns one line for each element that violates a rule
 */
export async function violations(page: Page): Promise<string[]> {
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
