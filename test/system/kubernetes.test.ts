import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { environmentNames } from '../config/environments.ts';
import { readText, root, temporaryFolder } from '../support/files.ts';
import type { Json } from '../support/json.ts';
import { run } from '../support/processes.ts';
import { without } from '../support/requirements.ts';

const folder = join(root, 'deploy/kubernetes');

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.yaml'),
);
const manifests = files
  .filter((name) => !name.endsWith('kustomization.yaml'))
  .flatMap((name) => read(readFileSync(join(folder, name), 'utf8')));

function read(text: string): Json[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS();
  });
}

function find(kind: string): Json {
  return manifests.find((manifest) => manifest.kind === kind);
}

/** The package with the types and the schema of a manifest. */
function packageOf({ apiVersion }: Json): string {
  const packages = { monitoring: 'prometheus-operator', gateway: 'gateway-api' };
  const group = Object.entries(packages).find(([name]) => apiVersion.startsWith(`${name}.`))?.[1];
  return `${group ? `@kubernetes-models/${group}` : 'kubernetes-models'}/${apiVersion}`;
}

/**
 * Checks manifests against the types of Kubernetes: TypeScript rejects unknown properties, too, in an object literal.
 *
 * @throws with what the compiler reports
 */
function compile(all: Json[]) {
  const directory = temporaryFolder(t, join(root, 'build'));
  const lines = all.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as Type${index} } from '${packageOf(manifest)}';\n` +
      `export const manifest${index}: Type${index} = ${JSON.stringify(manifest, null, 2)};\n`,
  );
  const file = join(directory, 'manifests.ts');
  writeFileSync(file, lines.join(''));
  const options = [
    ...['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--types', ''],
    ...['--module', 'esnext', '--moduleResolution', 'bundler'],
  ];
  return run('node_modules/.bin/tsc', [...options, file]);
}

/** Checks what types cannot express, such as required formats. @throws with the first problem */
async function validate(manifest: Json): Promise<void> {
  const models = await import(packageOf(manifest));
  new models[manifest.kind](manifest).validate();
}

t.test('every manifest has the schema of its kind, without unknown properties', async (t) => {
  await t.resolves(compile(manifests));
  for (const manifest of manifests) await t.resolves(validate(manifest), manifest.kind);
});

/** What the secret of an operator has. */
const secrets: Record<string, string> = {
  DATABASE_URL: 'postgresql://dure:c4d7e0f3a6b9c2d5@pgbouncer.internal:6432/dure',
  DATABASE_DIRECT_URL: 'postgresql://dure:c4d7e0f3a6b9c2d5@postgres.internal:5432/dure',
  DATABASE_REPLICA_URL: 'postgresql://dure:c4d7e0f3a6b9c2d5@postgres-replica.internal:5432/dure',
  REDIS_URL: 'rediss://:e8f1a4b7c0d3e6f9@redis.internal:6379',
  JWT_SECRET: 'kX2v8Jw0rTq5YbN7mZc4LpD9sGh1FaUe3Ri6',
  RESEND_API_KEY: 're_dK3vQ8wZ_unused',
  VAPID_PRIVATE_KEY: 'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I',
};

/** What an operator replaces in the overlay. */
const overlay = read(readText('deploy/kubernetes/example/kustomization.yaml'))[0].patches.map(
  ({ patch }: Json) => read(patch)[0],
);
const patchOf = (kind: string) => overlay.find((patch: Json) => patch.kind === kind);

t.test('the pods get a configuration that the service accepts', async (t) => {
  const data = { ...find('ConfigMap').data, ...patchOf('ConfigMap').data };
  const { stringData } = find('Secret');
  t.strictSame(Object.keys(stringData).sort(), Object.keys(secrets).sort());
  for (const name of [...Object.keys(data), ...Object.keys(stringData)]) {
    t.ok(environmentNames.includes(name), `${name} is a variable of the service`);
  }
  t.strictSame(loadConfig({ NODE_ENV: 'production', ...data, ...secrets }).warnings, []);
  t.throws(() => loadConfig({ NODE_ENV: 'production', ...data, ...stringData }), /JWT_SECRET/);
  for (const kind of ['Deployment', 'Job']) {
    const [container] = find(kind).spec.template.spec.containers;
    const references = container.envFrom.map((from: Json) => (from.configMapRef ?? from.secretRef).name);
    t.strictSame(references, [find('ConfigMap').metadata.name, find('Secret').metadata.name]);
  }
});

t.test('ports and user are those of the image', async (t) => {
  const { data } = find('ConfigMap');
  const { spec } = find('Deployment').spec.template;
  const [container] = spec.containers;
  const dockerfile = readText('Dockerfile');
  const ports = Object.fromEntries(container.ports.map((port: Json) => [port.name, port.containerPort]));
  t.strictSame(ports, { http: loadConfig(secrets).port, metrics: Number(data.METRICS_PORT) });
  t.match(dockerfile, `EXPOSE ${ports.http}`);
  const { securityContext } = spec;
  t.match(dockerfile, `USER ${securityContext.runAsUser}:${securityContext.runAsGroup}`);
});

t.test('the pods have no privileges', async (t) => {
  for (const kind of ['Deployment', 'Job']) {
    const { securityContext, containers, automountServiceAccountToken } = find(kind).spec.template.spec;
    t.match(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    t.equal(automountServiceAccountToken, false);
    const capabilities = { drop: ['ALL'] };
    const rights = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities };
    t.strictSame(containers[0].securityContext, rights);
  }
});

t.test('everything but health checks and metrics passes the gateway, and the ingress', async (t) => {
  const [health, all] = find('HTTPRoute').spec.rules;
  t.match(health, { matches: [{ path: { type: 'PathPrefix', value: '/health' } }], backendRefs: undefined });
  t.match(all, {
    backendRefs: [{ name: find('Service').metadata.name, port: find('Service').spec.ports[0].port }],
  });
  t.equal(find('ConfigMap').data.METRICS_PORT, '9464', 'metrics are not on the port of the requests');

  const { paths } = find('Ingress').spec.rules[0].http;
  const passes = (path: string) =>
    paths.some((rule: Json) =>
      rule.pathType === 'Exact' ? path === rule.path : `${path}/`.startsWith(`${rule.path}/`),
    );
  const documented = Object.keys(parse(readText('openapi.yaml')).paths);
  const pages = ['/', '/docs/', '/openapi.yaml', '/openapi.json', '/media/1.webp', '/metrics'];
  const inside = [...documented, ...pages].filter((path) => !passes(path));
  t.strictSame(inside, ['/health/live', '/health/ready', '/metrics']);
});

t.test('every selector finds the pods', async (t) => {
  const { labels } = find('Deployment').spec.template.metadata;
  const selectors = [
    find('Deployment').spec.selector.matchLabels,
    find('Service').spec.selector,
    find('PodDisruptionBudget').spec.selector.matchLabels,
    find('NetworkPolicy').spec.podSelector.matchLabels,
    find('PodMonitor').spec.selector.matchLabels,
    ...find('Deployment').spec.template.spec.topologySpreadConstraints.map(
      ({ labelSelector }: Json) => labelSelector.matchLabels,
    ),
  ];
  for (const selector of selectors) t.match(labels, selector);
  // A request must not reach the pod of the migration.
  const migration = find('Job').spec.template.metadata.labels;
  t.notSame({ ...migration, ...find('Service').spec.selector }, migration);
});

t.test('the operator has the rules of Prometheus, and scrapes the job that they select', async (t) => {
  const prometheus = (name: string) => read(readText(`deploy/prometheus/${name}`))[0];
  const rules = prometheus('alerts.yml');
  t.strictSame(find('PrometheusRule').spec, rules, 'run `node scripts/write-alerts.mjs`');
  const selectors: string[] = JSON.stringify(rules).match(/\b[a-z_]+\{[^}]*\}/g) ?? [];
  t.ok(selectors.length > 20);
  const jobs = new Set(selectors.map((text) => /\bjob=\\"([^"]*)\\"/.exec(text)?.[1]));
  t.strictSame([...jobs], ['dure']);
  const scraped = prometheus('prometheus.yml').scrape_configs.map((scrape: Json) => scrape.job_name);
  t.strictSame(scraped, ['dure']);
  const [endpoint] = find('PodMonitor').spec.podMetricsEndpoints;
  // Without conditions, so that the replacement is the value.
  t.strictSame(endpoint.relabelings, [{ targetLabel: 'job', replacement: 'dure' }]);
  const { ports } = find('Deployment').spec.template.spec.containers[0];
  t.ok(ports.some(({ name }: Json) => name === endpoint.port));
});

t.test('kustomize builds the folders, and every file is in one', { skip: without('kubectl') }, async (t) => {
  const build = async (name: string) =>
    read((await run('kubectl', ['kustomize', join(folder, name)])).stdout);
  const built = [...(await build('example')), ...(await build('monitoring'))];
  const kinds = (all: Json[]) => all.map(({ kind }) => kind).sort();
  const optional = ['Ingress'];
  t.strictSame(kinds(built), kinds(manifests.filter(({ kind }) => !optional.includes(kind))));
  const images = built.flatMap(({ spec }) => spec?.template?.spec.containers ?? []).map(({ image }) => image);
  t.strictSame(new Set(images), new Set(['registry.example.com/dure:1.0.0']));
});
