import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { launchBrowser, noBrowser } from '../../../../test/support/browser.ts';
import { root } from '../../../../test/support/files.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { unless } from '../../../../test/support/requirements.ts';
import { atMost } from '../../../../test/support/time.ts';
import { startExample } from '../frontend.ts';

t.setTimeout(atMost(240_000));
const lighthouse = join(root, 'test/long/programs/node_modules/lighthouse/cli/index.js');
const skip = noBrowser || unless(existsSync(lighthouse), 'npm run test:long installs Lighthouse');
/** Least scores, from 0 to 1. */
const example = { accessibility: 0.95, 'best-practices': 0.95, seo: 0.95 };
/** Of the page of Swagger UI, which is no page for search engines. */
const swaggerUi = { accessibility: 0.85, 'best-practices': 0.9 };
/** What of the performance does not depend on the machine. The figure for the speed, which does, is shown only. */
const perfect = [
  'cumulative-layout-shift',
  'redirects',
  'total-byte-weight',
  'unminified-css',
  'unminified-javascript',
  'unsized-images',
  'uses-long-cache-ttl',
  'uses-text-compression',
];

type Scores = Record<string, { score: number }>;

t.test('Lighthouse on a phone', { skip }, async (t) => {
  const { origin, api } = await startExample(t);
  const size = await firstLoad(origin);
  t.comment(`First load: ${size} bytes`);
  t.ok(size <= 95_000);
  const port = await freePort();
  await launchBrowser(t, { hasWindow: true, args: [`--remote-debugging-port=${port}`] });

  /** @returns scores from 0 to 1 of the preset for phones */
  async function audit(url: string): Promise<{ categories: Scores; audits: Scores }> {
    const options = [`--port=${port}`, '--output=json', '--quiet', `--max-wait-for-load=${atMost(45_000)}`];
    const maxBuffer = 64 * 1024 * 1024;
    const command = [lighthouse, url, ...options];
    const { stdout } = await promisify(execFile)(process.execPath, command, { maxBuffer });
    return JSON.parse(stdout);
  }

  const own = ['/', '/signup', '/login'].map((path) => ({
    url: origin + path,
    least: example,
    whole: perfect,
  }));
  const docs = { url: `${api}/docs/`, least: swaggerUi, whole: ['redirects', 'unsized-images'] };
  for (const { url, least, whole } of [...own, docs]) {
    const { categories, audits } = await audit(url);
    const scores = Object.entries(categories).map(([name, { score }]) => `${name} ${score}`);
    t.comment(`Lighthouse ${new URL(url).pathname}: ${scores.join(', ')}`);
    for (const [name, score] of Object.entries(least))
      t.ok((categories[name]?.score ?? 0) >= score, `${url}: ${scores.join(', ')}`);
    for (const name of whole) t.equal(audits[name]?.score, 1, `${url} ${name}`);
  }
});

/** @returns bytes of the page with its scripts and styles, as gzip sends them */
async function firstLoad(origin: string): Promise<number> {
  const read = async (path: string) => Buffer.from(await (await fetch(origin + path)).arrayBuffer());
  const page = await read('/');
  const paths = [...page.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  const files = [page, ...(await Promise.all(paths.map(read)))];
  return files.reduce((sum, file) => sum + gzipSync(file).length, 0);
}
