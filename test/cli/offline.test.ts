import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import t, { type Test } from 'tap';
import { createOutput } from '../../src/cli/command.ts';
import { createProgram } from '../../src/cli/program.ts';
import { loadConfig, loadDatabaseSettings } from '../../src/infrastructure/config/config.ts';
import { generatePrivateKey } from '../../src/infrastructure/config/keys.ts';
import { production, secret } from '../config/environments.ts';
import { dure, dureText, failed } from './command.ts';

t.test('config check tells problems and the ids of secrets, and nothing secret', async (t) => {
  const secrets = [secret, 'wQ3v9eLk2xRt7y', 're_dK3vQ8wZ_unused', 'aKIAsecret', 'r3disPassword'];
  const key = generatePrivateKey('EdDSA');
  const environment = {
    ...production,
    JWT_PRIVATE_KEY: key.pem,
    DATABASE_URL:
      'postgresql://dure:wQ3v9eLk2xRt7y@db.example.com/dure?sslmode=require&password=wQ3v9eLk2xRt7y',
    REDIS_URL: 'redis://:r3disPassword@redis:6379',
    TRUST_PROXY: 'loopback',
    S3_ACCESS_KEY_ID: 'aKIAsecret',
    S3_SECRET_ACCESS_KEY: 'aKIAsecret',
    PORT: 'many',
    CORS_ORIGINS: '*',
  };
  const { code, stdout, stderr } = await dure(environment, 'config', 'check');
  t.equal(code, 4);
  t.match(JSON.parse(stderr), { error: { code: 'invalid_configuration', message: /3 problems/ } });
  const document = JSON.parse(stdout);
  t.match(document, { is_usable: false, problems: [/^PORT/, /^CORS_ORIGINS/, /^S3_BUCKET/] });
  t.match(document.notes.slice(-2), [
    /^JWT_SECRET has the ids [\w-]{10}; the first one signs$/,
    `JWT_PRIVATE_KEY has the ids ${key.id}; `,
  ]);
  const text = await dureText(environment, 'config', 'check');
  for (const value of [...secrets, 'PRIVATE KEY'])
    t.notMatch(stdout + stderr + text.stdout + text.stderr, value);
});

t.test('config check --strict refuses values of examples, and nothing is generated', async (t) => {
  const DATA_DIR = t.testdir();
  t.match(await dure({ DATA_DIR }, 'config', 'check', '--strict'), { code: 0, document: { warnings: [] } });
  t.equal(existsSync(join(DATA_DIR, 'jwt-secret')), false);
  const sound = {
    ...production,
    DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@db.shops.kr/dure',
    MAIL_FROM: 'Dure <no-reply@shops.kr>',
    FRONTEND_URL: 'https://app.shops.kr',
    PUBLIC_URL: 'https://api.shops.kr',
  };
  t.match(await dure(sound, 'config', 'check', '--strict'), { code: 0, document: { warnings: [] } });
  for (const [name, value] of [
    ['DATABASE_URL', 'postgresql://dure:change-me@db/dure'],
    ['DATABASE_DIRECT_URL', 'postgresql://dure:<password>@db/dure'],
    ['DATABASE_REPLICA_URL', 'postgresql://dure:wQ3v9eLk2xRt7y@postgres-replica.example.internal/dure'],
    ['REDIS_URL', 'rediss://:wQ3v9eLk2xRt7y@redis.example.internal:6379'],
    ['PUBLIC_URL', 'https://dure.example.com'],
    ['MAIL_FROM', 'Dure <no-reply@example.com>'],
    ['CORS_ORIGINS', 'https://shops.kr,https://app.example.com'],
  ] as const) {
    const environment = { ...sound, [name]: value };
    const { code, stdout, stderr } = await dure(environment, 'config', 'check', '--strict');
    t.equal(code, 4, name);
    t.match(JSON.parse(stderr), { error: { code: 'weak_configuration' } });
    t.match(JSON.parse(stdout), { is_usable: true, warnings: [new RegExp(`^${name} `)] });
    t.notMatch(stdout, 'wQ3v9eLk2xRt7y');
    t.equal((await dure(environment, 'config', 'check')).code, 0);
  }
});

t.test('config check says what is switched off', async (t) => {
  const notesOf = async (environment: Record<string, string>) =>
    (await dure(environment, 'config', 'check')).document.notes;
  const off = { RATE_LIMIT_ENABLED: 'false', WORKER_ENABLED: 'false' };
  t.match(await notesOf({ ...production, ...off }), [
    /^VAPID_PRIVATE_KEY /,
    /^REDIS_URL /,
    /^S3_BUCKET /,
    /^RATE_LIMIT_ENABLED /,
    /^WORKER_ENABLED /,
    /^JWT_SECRET /,
  ]);
  t.match(await notesOf({}), [/^NODE_ENV /, /^RESEND_API_KEY /, /^REDIS_URL /, /^S3_BUCKET /]);
  const on = {
    VAPID_PRIVATE_KEY: Buffer.alloc(32, 7).toString('base64url'),
    VAPID_SUBJECT: 'mailto:push@shops.kr',
    REDIS_URL: 'rediss://redis.shops.kr',
    S3_BUCKET: 'dure',
    S3_ENDPOINT: 'https://s3.shops.kr',
    MEDIA_BASE_URL: 'https://media.shops.kr',
  };
  t.match(await notesOf({ ...production, ...on }), [/^JWT_SECRET /]);
});

const rotate = ['secrets', 'rotate'];

/** Rotates, and asserts that the new value alone is on standard output, in one line. */
async function printed(t: Test, environment: Record<string, string>, shown: string, ...options: string[]) {
  const { code, stdout, stderr } = await dureText(environment, ...rotate, ...options);
  t.equal(code, 0, stderr);
  t.match(stdout, /^[^\n]+\n$/, 'it is one line');
  t.notMatch(stderr, shown, 'secrets are on standard output only');
  return stdout.trim();
}

t.test('each step continues from the value that is deployed', async (t) => {
  const step = (value: string, name: string) =>
    printed(t, { JWT_SECRET: value }, value.split(',')[0] ?? '', '--step', name);
  const added = await step(secret, 'add');
  const next = added.split(',')[1];
  t.equal(added, `${secret},${next}`);
  t.equal(await step(added, 'switch'), `${next},${secret}`);
  const { document } = await dure({ JWT_SECRET: added }, ...rotate, '--step', 'switch');
  t.match(document, { step: 'switch', source: 'JWT_SECRET', wait_seconds: 14 * 86_400 });
  t.equal(await step(`${next},${secret}`, 'finish'), next);
  for (const name of ['switch', 'finish'])
    failed(t, await dure({ JWT_SECRET: secret }, ...rotate, '--step', name), 4, 'nothing_to_switch');
});

t.test('private keys are rotated step by step, and a first one is printed', async (t) => {
  const keysOf = (JWT_PRIVATE_KEY: string) =>
    loadConfig({ JWT_SECRET: secret, JWT_PRIVATE_KEY }).privateKeys.map(
      ({ id, algorithm }) => `${algorithm} ${id}`,
    );
  const rotateFrom = (JWT_PRIVATE_KEY: string, ...options: string[]) =>
    dureText({ JWT_SECRET: secret, JWT_PRIVATE_KEY }, ...rotate, '--asymmetric', ...options);
  const print = (JWT_PRIVATE_KEY: string, ...options: string[]) =>
    printed(t, { JWT_SECRET: secret, JWT_PRIVATE_KEY }, 'BEGIN', '--asymmetric', ...options);
  const first = await print('', 'eddsa', '--step', 'add');
  const [old = ''] = keysOf(first);
  t.match(old, /^EdDSA /);
  t.match(keysOf(await print('', '--step', 'add')), [/^ES256 /]);
  const added = await print(first, 'es256', '--step', 'add');
  const next = keysOf(added)[1] ?? '';
  t.match(next, /^ES256 /);
  t.strictSame(keysOf(added), [old, next]);
  const switched = await print(added, '--step', 'switch');
  t.strictSame(keysOf(switched), [next, old]);
  t.strictSame(keysOf(await print(switched, '--step', 'finish')), [next]);
  t.match(keysOf(await print(first, '--step', 'add')), [old, /^EdDSA /], 'by default the algorithm stays');
  t.equal(keysOf(await print(first, '--step', 'replace')).length, 1);
  t.match((await rotateFrom(first, '--step', 'add')).stderr, /wait 5 minutes, .* --step switch\.$/m);
  t.match((await rotateFrom(added, '--step', 'switch')).stderr, /wait 15 minutes, .* --step finish\.$/m);
  for (const value of ['', first])
    t.match(await rotateFrom(value, '--step', 'switch'), { code: 4, stderr: /fewer than two values/ });
  failed(
    t,
    await dure({ JWT_PRIVATE_KEY: 'x' }, ...rotate, '--asymmetric', '--step', 'add'),
    4,
    'invalid_key',
  );
  const JWT_PRIVATE_KEY_FILE = join(t.testdir({ key: first }), 'key');
  const { document } = await dure({ JWT_PRIVATE_KEY_FILE }, ...rotate, '--asymmetric', '--step', 'add');
  t.match(document, { source: JWT_PRIVATE_KEY_FILE, key_ids: [old.split(' ')[1], /^[\w-]{43}$/] });
});

t.test('a secret that is missing, weak or leaked is not kept beside the new one', async (t) => {
  const missing = { NODE_ENV: 'production' };
  failed(t, await dure(missing, ...rotate, '--step', 'add'), 4, 'no_secret');
  const weak = { NODE_ENV: 'production', JWT_SECRET: 'please-change-this-secret-0123456789' };
  const rejected = await dure(weak, ...rotate, '--step', 'add');
  failed(t, rejected, 4, 'weak_secret');
  t.notMatch(rejected.stderr, weak.JWT_SECRET);
  for (const environment of [missing, weak, { JWT_SECRET: secret }]) {
    const { document } = await dure(environment, ...rotate, '--step', 'replace');
    t.match(document, { step: 'replace', value: /^[\w-]{64}$/ });
    t.same(loadConfig({ JWT_SECRET: document.value }).secrets.length, 1);
  }
});

t.test('the generated secret of a folder is rotated in its file', async (t) => {
  const DATA_DIR = t.testdir();
  failed(t, await dure({ DATA_DIR }, ...rotate, '--step', 'add'), 4, 'no_secret');
  const path = join(DATA_DIR, 'jwt-secret');
  loadConfig({ DATA_DIR });
  const { document } = await dure({ DATA_DIR }, ...rotate, '--step', 'add');
  t.match(document, { source: path });
  t.ok(document.value.startsWith(`${readFileSync(path, 'utf8')},`));
  writeFileSync(path, document.value);
  const ids = loadConfig({ DATA_DIR }).secrets.map(({ id }) => id);
  t.same(ids, document.key_ids);
});

t.test('the variables of the database are enough for what needs nothing else', async (t) => {
  const url = 'postgresql://dure@db.example.com/dure';
  const wrong = { PORT: 'many', JWT_SECRET: 'x', FRONTEND_URL: 'http://x.example.com' };
  const other = { NODE_ENV: 'production', ...wrong };
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'])
    t.match(loadDatabaseSettings({ ...other, [name]: url }), { database: { url } }, name);
  for (const [environment, message] of [
    [other, /:\n {2}- DATABASE_URL must be set in production$/],
    [{ DATABASE_URL: 'mysql://db/dure' }, /:\n {2}- DATABASE_URL [^\n]+$/],
    [{ NODE_ENV: 'prod' }, /:\n {2}- NODE_ENV [^\n]+$/],
  ] as const) {
    t.throws(() => loadDatabaseSettings(environment), { message });
  }
});

const program = createProgram({
  environment: {},
  output: createOutput({ json: false, stdout: process.stdout, stderr: process.stderr }),
  log: process.stderr,
  isInteractive: false,
});

/** The commands that do something, with their words. */
function leaves(command: Command, words: string[] = []): { words: string[]; command: Command }[] {
  const path = [...words, command.name()];
  if (command.commands.length === 0) return [{ words: path, command }];
  return command.commands.flatMap((one) => leaves(one, path));
}

t.test('the help of every command has examples that its options allow, and exit codes', async (t) => {
  const all = leaves(program);
  t.ok(all.length >= 19, `${all.length} commands`);
  const page = readFileSync('docs/operations/command.md', 'utf8');
  for (const { words, command } of all) {
    const name = words.join(' ');
    const options = command.options.map(({ long }) => long ?? '');
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const examples = help.split('Examples:')[1]?.split('Exit codes:')[0] ?? '';
    const lines = examples.split('\n').filter((line) => line.includes(name));
    t.ok(lines.length > 0, `${name} has examples`);
    for (const line of lines) {
      const own = line.split('|')[0] ?? '';
      for (const option of own.match(/(?<= )--[a-z-]+/g) ?? [])
        t.ok(options.includes(option), `${line.trim()}: ${option}`);
    }
    t.match(help, /Exit codes:\n {2}0 {2}done/, name);
    t.ok(options.includes('--json'), `${name} --json`);
    t.ok(page.includes(`\`${name}`), `${name} is in docs/operations/command.md`);
    for (const option of options)
      t.notMatch(option, /password|secret|token|key/, 'never on the command line');
  }
});

t.test('--version prints the version only', async (t) => {
  const { code, stdout, stderr } = await dureText({}, '--version');
  t.match({ code, stdout, stderr }, { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
});

t.test('wrong usage is exit code 2 with one line', async (t) => {
  const lines = ['', 'users', 'nonsense', 'users show', 'users show a b', 'jobs list --limit 0'];
  for (const line of [...lines, 'stats --nonsense', 'config check --operator x', 'secrets rotate']) {
    const args = line.split(' ').filter(Boolean);
    const { code, stdout, stderr } = await dureText({}, ...args);
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: /^dure: [^\n]+\n$/ }, args.join(' '));
    t.match((await dure({}, ...args)).document, { error: { code: 'usage', message: /^[^\n]+$/ } });
  }
});
