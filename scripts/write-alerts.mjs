import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';

/*
 * node scripts/write-alerts.mjs
 *
 * Writes the alerts of Prometheus into the manifest of Kubernetes, below `spec`.
 */
process.chdir('deploy');
const manifest = 'kubernetes/monitoring/rules.yaml';
const [head] = readFileSync(manifest, 'utf8').split(/(?<=^spec:\n)/m);
const alerts = readFileSync('prometheus/alerts.yml', 'utf8').replace(/^#.*\n/gm, '');
writeFileSync(manifest, `${head}${alerts.replace(/^(?=.)/gm, '  ')}`);
