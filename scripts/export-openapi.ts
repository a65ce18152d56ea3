import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../src/app.ts';
import { loadConfig, withDatabase } from '../src/infrastructure/config/config.ts';
import { toYaml } from '../src/openapi/plugin.ts';

// `npm run openapi` writes openapi.yaml from the routes; with `--check` it fails when the file is not what it would write.
// Another file may be named.
const [other] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const path = other ?? fileURLToPath(import.meta.resolve('#package/openapi.yaml'));
const secret = 'only for the export of the OpenAPI document';
const config = loadConfig({
  JWT_SECRET: secret,
  WORKER_ENABLED: 'false',
  LOG_LEVEL: 'silent',
  RATE_LIMIT_ENABLED: 'false',
});
// No connection is made, because registering routes needs no database.
const app = await buildApp(withDatabase(config, { url: '', directUrl: '', pooled: false }));
await app.ready();
const yaml = toYaml(app.swagger());
await app.close();

if (!process.argv.includes('--check')) {
  writeFileSync(path, yaml);
} else if (readFileSync(path, 'utf8') !== yaml) {
  process.stderr.write(`${path} is stale: run \`npm run openapi\` and commit it\n`);
  process.exitCode = 1;
}
