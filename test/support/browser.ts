import { existsSync } from 'node:fs';
import { type Browser, type CDPSession, chromium, type LaunchOptions, type Page } from 'playwright-core';
import type { Test } from 'tap';
import { unless } from './requirements.ts';
import { atMost } from './time.ts';

const given = process.env['CHROMIUM_PATH'];
const find = (paths: string[]) => paths.find((path) => existsSync(path));

/** Where systems install Chromium. `CHROMIUM_PATH` names another one. */
const withWindow =
  given ||
  find([
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    chromium.executablePath(),
  ]);
/** It needs a fifth less CPU. */
const withoutWindow = given || find(['/usr/bin/chromium-headless-shell']) || withWindow;

/** For the `skip` of tests with a browser. */
export const noBrowser = unless(
  withWindow !== undefined,
  'Chromium is not installed: install it or set CHROMIUM_PATH',
);

/**
 * Each window of Chromium renders two popups of its address bar, which cost more CPU than most pages. The others are those of
 * Playwright's list, which this one replaces, that ask servers of Google or change how pages load.
 */
const disabledFeatures = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'AimEnabled', 'MediaRouter', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'PreconnectToSearch', 'HttpsUpgrades', 'PaintHolding'],
  ...['DestroyProfileOnBrowserClose', 'AvoidUnnecessaryBeforeUnloadCheckSync'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'ThirdPartyStoragePartitioning'],
];

export interface BrowserOptions extends LaunchOptions {
  /** With what only a window has: tabs, notifications, the autofill of passkeys, and the cache of pages for Back and Forward. */
  hasWindow?: boolean;
}

/** Starts Chromium, until the test ends. Its pages have the time that a slow machine needs. */
export async function launchBrowser(
  t: Test,
  { hasWindow = false, ...options }: BrowserOptions = {},
): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: (hasWindow ? withWindow : withoutWindow) ?? '',
    timeout: atMost(30_000),
    ...options,
    args: ['--no-sandbox', `--disable-features=${disabledFeatures}`, ...(options.args ?? [])],
  });
  t.teardown(() => browser.close());
  browser.on('context', (context) => context.setDefaultTimeout(atMost(30_000)));
  return browser;
}

/** Gives a page an authenticator that answers by itself. */
export async function addAuthenticator(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return devtools;
}
