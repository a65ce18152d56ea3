import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { readOptions, sayHead, sayRow } from './command-line.ts';
import { type BenchUser, readUsers } from './data.ts';
import { type Server, withDatabase } from './environment.ts';
import { besideMe, describe, percentile, sendLoad } from './load.ts';
import { costOf } from './processes.ts';
import { authorization, login, photograph } from './workloads.ts';

interface Attack {
  server: Server;
  users: BenchUser[];
  seconds: number;
}

/** What is sent, by the name of the attack. @returns how it was answered */
const attackers: Record<string, (attack: Attack) => Promise<string>> = {
  async logins({ server, users, seconds }) {
    const senders = await login.createSenders({ server, users, connections: 16 });
    const { requests, errors } = await sendLoad(server.url, senders, { seconds });
    return [`${requests} in all`, ...errors].join(', ');
  },
  uploads: async (attack) => upload(attack, await photograph()),
  'large-images': async (attack) => upload(attack, await largestImage()),
};

/**
 * npm run bench -- attacks [--only uploads,logins] [--seconds 10]
 *
 * `me` of others, 20 times a second, alone and beside each attack; and what the attack costs the instance.
 */
export async function attacks(args: string[]): Promise<void> {
  const options = readOptions(args, { only: Object.keys(attackers).join(), seconds: '10' });
  const seconds = Number(options.seconds);
  sayHead([
    ...['attack', '`me` alone, ms p50 / p99', 'beside it', 'p99 by p99 alone'],
    ...['CPU s of the instance', 'seconds', 'peak MiB', 'answers'],
  ]);
  await withDatabase(async ({ url, postmaster, start }) => {
    const users = await readUsers(url);
    const others = users.slice(10, 30);
    for (const name of options.only.split(',')) {
      const attack = attackers[name];
      if (!attack) throw new Error(`there is no attack ${name}`);
      const server = await start();
      await besideMe(server, others, () => attack({ server, users, seconds: 1 }));
      const alone = await besideMe(server, others, () => sleep(1_000 * seconds));
      const cost = await costOf({ servers: [server], postmaster }, () =>
        besideMe(server, others, () => attack({ server, users, seconds })),
      );
      const { times, rejected, result } = cost.result;
      sayRow([
        ...[name, describe(alone.times), describe(times)],
        (percentile(times, 0.99) / percentile(alone.times, 0.99)).toFixed(1),
        ...[cost.instances.toFixed(1), cost.elapsed.toFixed(1), cost.peak.toFixed(0)],
        rejected > 0 ? `${result}; ${rejected} of \`me\` were rejected` : result,
      ]);
      await server.end();
    }
  });
}

/** Three users, one more than images are converted at once, upload an image again and again. @returns how often what came */
async function upload({ server, users, seconds }: Attack, image: Buffer): Promise<string> {
  const counts = new Map<number, number>();
  const end = performance.now() + 1_000 * seconds;
  const uploading = users.slice(2, 5).map(async (user) => {
    while (performance.now() < end) {
      const body = new FormData();
      body.append('image', new Blob([new Uint8Array(image)]), 'photo.jpg');
      const request = { method: 'POST', headers: authorization(user), body };
      const response = await fetch(`${server.url}/api/v1/images/`, request);
      await response.arrayBuffer();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    }
  });
  await Promise.all(uploading);
  return [...counts].map(([status, count]) => `${count} of ${status}`).join(', ');
}

/** The image that takes the most memory of those that are accepted: 16 bits a channel, interlaced, and to be turned. */
function largestImage(): Promise<Buffer> {
  const background = { r: 200, g: 60, b: 40, alpha: 0.5 };
  return sharp({ create: { width: 7_071, height: 7_071, channels: 4, background } })
    .toColourspace('rgb16')
    .withMetadata({ orientation: 6 })
    .png({ progressive: true })
    .toBuffer();
}
