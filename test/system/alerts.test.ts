import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createTestApp, signUpUser } from '../support/app.ts';
import { readText, root } from '../support/files.ts';
import type { Json } from '../support/json.ts';
import { run } from '../support/processes.ts';
import { without } from '../support/requirements.ts';

const { groups } = parse(readText('deploy/prometheus/alerts.yml'));
const rules: Json[] = groups.flatMap(({ rules }: Json) => rules);
const dashboards: Json[] = readdirSync(join(root, 'deploy/grafana/dashboards')).map((file) =>
  JSON.parse(readText(`deploy/grafana/dashboards/${file}`)),
);

const skip = without('promtool');

t.test('promtool accepts the rules, and each fires when it should and only then', { skip }, async (t) => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
    ['check', 'config', '--syntax-only', 'prometheus.yml'],
  ])
    await t.resolves(run('promtool', args, { cwd: join(root, 'deploy/prometheus') }), args.join(' '));
  const { tests: groups } = parse(readText('deploy/prometheus/alerts.test.yml'));
  const all: Json[] = groups.flatMap((group: Json) => group.alert_rule_test);
  for (const { alert } of rules) {
    const tests = all.filter(({ alertname }) => alertname === alert);
    const fires = new Set(tests.map(({ exp_alerts: expected }) => expected.length > 0));
    t.ok(fires.has(true), `${alert} fires in a test`);
    t.ok(fires.has(false), `${alert} does not fire in another`);
  }
});

t.test('each alert has a section of the runbook with its severity, and each section an alert', async (t) => {
  const sections = [
    ...readText('docs/operations/alerts.md').matchAll(/^## (Dure\w*)\n\n(Critical|Warning): /gm),
  ].map(([, name, severity]) => `${name} ${severity?.toLowerCase()}`);
  t.strictSame(sections.sort(), rules.map(({ alert, labels }) => `${alert} ${labels.severity}`).sort());
  for (const { alert, annotations } of rules) {
    t.match(annotations.runbook_url, `/docs/operations/alerts.md#${alert.toLowerCase()}`);
  }
});

/** The series that a query reads: name, and labels with their value where it is exact. */
function seriesIn(query: string): { name: string; labels: Map<string, string | undefined> }[] {
  const plain = query.replace(/\[[^\]]*\]/g, '').replace(/\b(?:by|on|without|ignoring) \([^)]*\)/g, '');
  return [...plain.matchAll(/\b([a-z_][a-z0-9_]*)(?:\{([^}]*)\})?(?!\s*\(|[\w"=])/g)]
    .filter(([, name = '']) => !['and', 'or', 'unless', 'by', 'up'].includes(name))
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: new Map(
        [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)]
          .filter(([, label = '']) => !['job', 'instance'].includes(label))
          .map(([, label = '', operator, value]) => [label, operator === '=' ? value : undefined]),
      ),
    }));
}

t.test('rules and dashboards ask for metrics, labels and values that the service has', async (t) => {
  // Nothing answers there; the metric says so.
  const app = await createTestApp({
    RATE_LIMIT_ENABLED: 'true',
    REDIS_URL: 'redis://127.0.0.1:1',
    DATABASE_REPLICA_URL: 'postgresql://127.0.0.1:1',
  });
  await signUpUser(app);
  await app.mails.settled();
  await app.pool.query("SELECT graphile_worker.add_job('send_mail', run_at => now() + interval '1 hour')");
  const { text } = await app.call('GET', '/metrics');
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const queries = [
    ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
    ...dashboards.flatMap(({ uid, panels }) =>
      panels.flatMap((panel: Json) =>
        panel.targets.map(({ expr }: Json): [string, string] => [`${uid}: ${panel.title}`, expr]),
      ),
    ),
  ];
  for (const [where, query] of queries) {
    for (const { name, labels } of seriesIn(query)) {
      const own = samples.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      t.ok(own.length > 0, `${where}: ${name}`);
      for (const [label, value] of labels) {
        const found = own.some((line) =>
          line.includes(value === undefined ? `${label}="` : `${label}="${value}"`),
        );
        t.ok(found, `${where}: ${name}{${label}="${value ?? '...'}"}`);
      }
    }
  }
  const documented = readText('docs/operations/signals.md');
  const names = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
  for (const name of names) {
    if (!/^(?:process|nodejs)_/.test(name)) t.ok(documented.includes(`\`${name}\``), `${name} is documented`);
  }
});
