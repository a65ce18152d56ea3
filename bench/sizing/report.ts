import type { Measured } from './measure.ts';
import { sizeOf } from './model.ts';

const sizes = [10_000, 1_000_000, 100_000_000];

const table = (rows: string[][]): string[] => [
  ...rows.slice(0, 1).flatMap((cells) => [line(cells), line(cells.map(() => '---'))]),
  ...rows.slice(1).map(line),
];
const line = (cells: string[]) => `| ${cells.join(' | ')} |`;

/** A number with two digits that count, so that it does not look more exact than it is. */
function short(value: number): string {
  if (value === 0) return '0';
  const digits = 10 ** (Math.floor(Math.log10(value)) - 1);
  const rounded = Math.round(value / digits) * digits;
  return rounded >= 10
    ? rounded.toLocaleString('en-US', { maximumFractionDigits: 0 })
    : String(Number(rounded.toPrecision(2)));
}

function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${short(value / 1000 ** unit)} ${units[unit]}`;
}

/** The tables of docs/operations/growth.md, in Markdown. */
export function formatSizes(measured: Measured): string[] {
  const needs = sizes.map((users) => sizeOf(users, measured));
  const row = (label: string, format: (need: (typeof needs)[number]) => string) => [
    label,
    ...needs.map(format),
  ];
  const most = Math.max(...sizes);
  const { shares } = sizeOf(most, measured);
  return [
    ...table([
      ['operation', 'CPU us: instance', 'CPU us: PostgreSQL', 'WAL bytes'],
      ...Object.entries(measured.operations).map(([name, { service, postgres, wal }]) => [
        name,
        String(service),
        String(postgres),
        String(wal),
      ]),
    ]),
    '',
    ...table([
      ['row with its indexes', 'bytes'],
      ...Object.entries(measured.rows).map(([name, size]) => [name, String(size)]),
    ]),
    '',
    ...table([
      ['updates that change no index (HOT)', 'share'],
      ...Object.entries(measured.hot).map(([name, share]) => [name, `${(share * 100).toFixed(1)} %`]),
    ]),
    '',
    ...table([
      ['users', ...sizes.map((users) => users.toLocaleString('en-US'))],
      row('requests/s at the peak', (need) => short(need.requestsPerSecond)),
      row(
        'of these, writes; logins',
        (need) => `${short(need.writesPerSecond)}; ${short(need.loginsPerSecond)}`,
      ),
      row('open streams', (need) => short(need.streams)),
      row('instances', (need) => need.instances.toLocaleString('en-US')),
      row(
        'their cores: requests + hashing',
        (need) => `${short(need.serviceCores)} + ${short(need.hashingCores)}`,
      ),
      row('their memory', (need) => `${short(need.memoryGB)} GB`),
      row('cores of PostgreSQL', (need) => short(need.postgresCores)),
      row(
        'of these, lists and searches; replicas for them',
        (need) => `${short(need.replicaCores)}; ${need.replicas}`,
      ),
      row('connections to PostgreSQL, with PgBouncer', (need) => short(need.connections)),
      row('memory for what is read often', (need) => bytes(need.readOften)),
      row('storage after the first year', (need) => bytes(need.storageFirstYear)),
      row('growth in each further year', (need) => bytes(need.growthPerYear)),
      row(
        'notifications; in each of 16 partitions',
        (need) => `${short(need.notificationRows)}; ${short(need.notificationRows / 16)}`,
      ),
      row('idempotency keys of a day', (need) => short(need.keysPerDay)),
      row('WAL a day', (need) => bytes(need.walPerDay)),
      row('rows a second that expire', (need) => short(need.expiredPerSecond)),
    ]),
    '',
    ...table([
      ['limit of one primary', 'used at 1 million users', 'reached at'],
      ...Object.entries(shares)
        .sort(([, a], [, b]) => b - a)
        .map(([name, share]) => [
          name,
          `${short((share / most) * 1e6 * 100)} %`,
          `${short(most / share / 1e6)} million users`,
        ]),
    ]),
  ];
}
