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
const examplePages = ['/', '/signup', '/login'];
/** The figure for the speed is shown only: it depends on the machine. The size of the first load does not. */
const judged = ['accessibility', 'best-practices', 'seo'];

interface Report {
  categories: Record<string, { score: number }>;
}

t.test('Lighthouse on a phone', { skip }, async (t) => {
  const { origin, api } = await startExample(t);
  const size = await firstLoad(origin);
  t.comment(`First load: ${size} bytes`);
  t.ok(size <= 90_000);
  const port = await freePort();
  const browser = await launchBrowser({ args: ['--no-sandbox', `--remote-debugging-port=${port}`] });
  t.teardown(() => browser.close());

  /** @returns scores from 0 to 100 of the preset for phones */
  async function audit(url: string): Promise<Record<string, number>> {
    const options = [`--port=${port}`, '--output=json', '--quiet', `--max-wait-for-load=${atMost(45_000)}`];
    const maxBuffer = 64 * 1024 * 1024;
    const command = [lighthouse, url, ...options];
    const { stdout } = await promisify(execFile)(process.execPath, command, { maxBuffer });
    const { categories }: Report = JSON.parse(stdout);
    return Object.fromEntries(
      Object.entries(categories).map(([name, { score }]) => [name, Math.round(score * 100)]),
    );
  }

  const pages: [string, number][] = [
    ...examplePages.map((path): [string, number] => [origin + path, 95]),
    [`${api}/docs/`, 90],
  ];
  for (const [url, least] of pages) {
    const scores = await audit(url);
    t.comment(`Lighthouse ${new URL(url).pathname}: ${JSON.stringify(scores)}`);
    for (const name of judged) t.ok((scores[name] ?? 0) >= least, `${url} ${name}: ${scores[name]}`);
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
