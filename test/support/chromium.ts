import { existsSync } from 'node:fs';
import process from 'node:process';
import { type Browser, chromium } from 'playwright-core';

const usualPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** What a test says that is skipped for want of a browser. */
export const noChromium = 'no Chromium: install it (apt-get install chromium) or set CHROMIUM_PATH';

/** Starts Chromium. @returns undefined where none is installed */
export async function launchChromium(): Promise<Browser | undefined> {
  const executablePath = [process.env['CHROMIUM_PATH'] ?? '', ...usualPaths].find((path) => existsSync(path));
  if (executablePath === undefined) return undefined;
  // The sandbox of Chromium refuses to run as root.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}
