import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { createAdmin } from '../../support/admin.ts';
import { createTestApp, createUser } from '../../support/app.ts';
import { contract, type DocumentedParameter } from '../../support/contract.ts';
import { root, temporaryFolder } from '../../support/files.ts';
import { unless, without } from '../../support/requirements.ts';
import { serve } from '../../support/serve.ts';

const jar = join(root, 'test/long/programs/node_modules/specmatic/specmatic.jar');
const skip = without('java') || unless(existsSync(jar), 'npm run test:long installs Specmatic');

/** Operations that Specmatic does not call, and why. */
const omittedOperations: Record<string, string> = { streamNotifications: 'its response does not end' };

/** Parameters that Specmatic does not send, and why: it would send every combination of optional ones. */
const omittedParameters: Record<string, string> = {
  'Accept-Language': 'every value is right',
  'Idempotency-Key': 'a second request with the same key is no new one',
  category_id: 'a number that is no category is an error',
  cursor: 'only the service makes one',
  near: 'goes together with radius_m',
  radius_m: 'goes together with near',
};

/** What stands in a path besides ids. */
const pathValues: Record<string, string> = { provider: 'development' };

/** One request of Specmatic. */
interface Scenario {
  name: string;
  isPositive: boolean;
  passed: boolean;
}

t.test('Specmatic finds that the service refuses what the document does not allow', { skip }, async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' }, { serverErrors: true });
  const serverErrors: string[] = [];
  const url = await serve(t, async (request, response) => {
    const { method = '', url = '' } = request;
    response.on('finish', () => {
      if (response.statusCode >= 500) serverErrors.push(`${response.statusCode} ${method} ${url}`);
    });
    const isAdmins = url.startsWith('/api/v1/admin/');
    // Of its own, because an operation may end the session.
    if (request.headers.authorization === 'Bearer token')
      request.headers.authorization = `Bearer ${(await (isAdmins ? createAdmin(app) : createUser(app))).token}`;
    app.app.routing(request, response);
  });
  const scenarios = await runSpecmatic(t, url);
  const negatives = scenarios.filter(({ isPositive }) => !isPositive);
  t.strictSame(serverErrors, [], 'no scenario breaks the service');
  t.ok(negatives.length > 300, `${negatives.length} negative scenarios`);
  const accepted = negatives.filter(({ passed }) => !passed).map(({ name }) => name);
  t.strictSame(accepted, [], 'each is refused as documented');
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
        // The name of the security scheme; the token of a user replaces it.
        bearer: 'token',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  t.teardown(() => child.kill());
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (data) => (output += data));
  await once(child, 'close');
  const lines = output.matchAll(/^ *((.)ve +Scenario: .*) (?:has|was) (\w+)$/gm);
  return [...lines].map(([, name = '', sign, result]) => {
    const [isPositive, passed] = [sign === '+', result === 'SUCCEEDED'];
    return { name, isPositive, passed };
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
