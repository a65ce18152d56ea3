import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { createTestApp } from '../../support/app.ts';
import { contract, type DocumentedParameter } from '../../support/contract.ts';
import { root, temporaryFolder } from '../../support/files.ts';
import { unless, without } from '../../support/requirements.ts';
import { serve } from '../../support/serve.ts';
import {
  createWorld,
  omittedOperations,
  omittedParameters,
  pathValues,
  withoutSuccess,
} from './specmatic-world.ts';

const jar = join(root, 'test/long/programs/node_modules/specmatic/specmatic.jar');
const skip = without('java') || unless(existsSync(jar), 'npm run test:long installs Specmatic');

const noQuotas = { QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0', QUOTA_REQUESTS_PER_DAY: '0' };

/** One request of Specmatic. */
interface Scenario {
  name: string;
  operationId: string | undefined;
  isPositive: boolean;
  passed: boolean;
}

t.test('Specmatic finds that the service does what the document says', { skip }, async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false', ...noQuotas }, { serverErrors: true });
  const prepare = await createWorld(app);
  const serverErrors: string[] = [];
  const url = await serve(t, async (request, response) => {
    const { method = '', url = '' } = request;
    response.on('finish', () => {
      if (response.statusCode >= 500) serverErrors.push(`${response.statusCode} ${method} ${url}`);
    });
    await prepare(contract.operationOf(method, url), request);
    app.app.routing(request, response);
  });
  const scenarios = await runSpecmatic(t, url);
  const positives = scenarios.filter(({ isPositive }) => isPositive);
  const negatives = scenarios.filter(({ isPositive }) => !isPositive);
  t.strictSame(serverErrors, [], 'no scenario breaks the service');
  t.ok(negatives.length > 300, `${negatives.length} negative scenarios`);
  const accepted = negatives.filter(({ passed }) => !passed).map(({ name }) => name);
  t.strictSame(accepted, [], 'each is refused as documented');

  const succeeded = positives.filter(({ passed }) => passed);
  t.comment(`${succeeded.length} of ${positives.length} positive scenarios succeed`);
  const successful = new Set(succeeded.map(({ operationId }) => operationId));
  const expected = positives.filter(({ operationId = '' }) => !(operationId in withoutSuccess));
  const missing = new Set(
    expected.map(({ operationId }) => operationId).filter((operationId) => !successful.has(operationId)),
  );
  t.strictSame([...missing], [], 'all others succeed');
});

/** Generates requests from the document and sends them. */
async function runSpecmatic(t: Test, url: string): Promise<Scenario[]> {
  const folder = temporaryFolder(t);
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(documentForSpecmatic()));
  const args = ['test', 'openapi.json', `--testBaseURL=${url}`, '--timeout=30'];
  const child = spawn(
    'java',
    ['-Dfile.encoding=UTF-8', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-jar', jar, ...args],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        SPECMATIC_GENERATIVE_TESTS: 'true',
        MAX_TEST_REQUEST_COMBINATIONS: '1',
        // The name of the security scheme; the world replaces it by the token of a user.
        bearer: 'token',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  t.teardown(() => child.kill());
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (output += data));
  await once(child, 'close');
  const lines = output.matchAll(/^ *((.)ve +Scenario: (\w+) (\S+) .*) (?:has|was) (\w+)$/gm);
  return [...lines].map(([, name = '', sign, method = '', path = '', result]) => {
    const operation = contract.operationOf(method, path.replace(/\([^)]*\)/g, '1'));
    const [isPositive, passed] = [sign === '+', result === 'SUCCEEDED'];
    return { name, operationId: operation?.operationId, isPositive, passed };
  });
}

/** The document without what is omitted. */
function documentForSpecmatic() {
  const { paths, ...document } = contract.document;
  const operations = Object.entries(paths).map(([path, item]) => {
    const kept = Object.entries(item).filter(([, { operationId }]) => !(operationId in omittedOperations));
    const described = kept.map(([method, { parameters = [], ...operation }]) => {
      // Specmatic rejects properties that a form in `anyOf` does not name, and examples with them.
      if (operation.operationId === 'downloadOwnData') {
        const content = { 'application/json': { schema: { type: 'object' } } };
        operation = {
          ...operation,
          responses: { ...operation.responses, 200: { description: 'The file', content } },
        };
      }
      const sent = parameters.filter(({ name }) => !(name in omittedParameters));
      const body = operation.requestBody?.content['application/json']?.examples ?? {};
      return [method, { ...operation, parameters: sent.map((one) => withValue(one, Object.keys(body))) }];
    });
    return [path, Object.fromEntries(described)];
  });
  return { ...document, paths: Object.fromEntries(operations) };
}

/** @param names of the examples of the body: Specmatic takes the name of one for the value, where a parameter has none of it */
function withValue(parameter: DocumentedParameter, names: string[]): object {
  if (parameter.in !== 'path') return parameter;
  const value = parameter.schema.type === 'integer' ? 1 : pathValues[parameter.name];
  const examples = Object.fromEntries(names.map((name) => [name, { value }]));
  return { ...parameter, example: undefined, examples };
}
