import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { chromium, type Page } from 'playwright-core';
import sharp from 'sharp';
import { root } from './last-release.ts';

/*
 * npm run demo && npm run example, and beside it: npm run screenshots
 *
 * Renews the picture of the READMEs: the example frontend on a desktop and on a phone. CHROMIUM_PATH names the browser.
 */
const frontendUrl = process.env['FRONTEND_URL'] ?? 'http://localhost:5173';
/** In pixels of CSS; pictures have twice as many. */
const screens = { desktop: { width: 1120, height: 760 }, phone: { width: 360, height: 720 } };
const gap = 48;

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const desktop = await photograph(screens.desktop, 'golmok_flower', (page) =>
    page.locator('main img').first().waitFor(),
  );
  const phone = await photograph(screens.phone, 'dure_cafe', async (page) => {
    await page.goto('/requests');
    await page.locator('main article, main li').first().waitFor();
  });
  const width = 2 * (screens.desktop.width + screens.phone.width + 3 * gap);
  const height = 2 * (screens.desktop.height + 2 * gap);
  const picture = await sharp({ create: { width, height, channels: 4, background: '#e9e4da' } })
    .composite([
      { input: desktop, left: 2 * gap, top: 2 * gap },
      { input: phone, left: 2 * (screens.desktop.width + 2 * gap), top: height / 2 - screens.phone.height },
    ])
    .png()
    .toBuffer();
  await writeFile(
    join(root, 'docs/example.webp'),
    await sharp(picture).resize({ width: 1600 }).webp({ quality: 80 }).toBuffer(),
  );
} finally {
  await browser.close();
}

/** What a shop of the demo sees after it has logged in. @returns a PNG with round corners */
async function photograph(
  viewport: { width: number; height: number },
  username: string,
  show: (page: Page) => Promise<void>,
): Promise<Buffer> {
  const page = await browser.newPage({
    baseURL: frontendUrl,
    locale: 'ko-KR',
    viewport,
    deviceScaleFactor: 2,
    reducedMotion: 'reduce',
    // Without room for a scroll bar.
    isMobile: true,
  });
  await page.goto('/login');
  await page.getByLabel('아이디 또는 이메일').fill(username);
  await page.getByLabel('비밀번호', { exact: true }).fill('gimbap-and-coffee-7');
  await page.getByRole('button', { name: '로그인', exact: true }).click();
  await page.waitForURL((url) => url.pathname === '/');
  await show(page);
  await page.evaluate("document.querySelector('.mailbox-hint').remove()");
  await page.evaluate('document.fonts.ready');
  const corners = `<svg width="${2 * viewport.width}" height="${2 * viewport.height}"><rect width="100%" height="100%" rx="24"/></svg>`;
  return sharp(await page.screenshot())
    .composite([{ input: Buffer.from(corners), blend: 'dest-in' }])
    .png()
    .toBuffer();
}
