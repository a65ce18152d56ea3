import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { addFailedMail, createAdmin, sendReport } from '../../support/admin.ts';
import { createTestApp, createUser, type TestApp } from '../../support/app.ts';
import { contract, type DocumentedOperation, type DocumentedParameter } from '../../support/contract.ts';
import { root, temporaryFolder } from '../../support/files.ts';
import { becomePartners, sendRequest } from '../../support/partner-requests.ts';
import { unless, without } from '../../support/requirements.ts';
import { serve } from '../../support/serve.ts';
import { createPost, openShop } from '../../support/stores.ts';

const jar = join(root, 'test/long/programs/node_modules/specmatic/specmatic.jar');
const skip = without('java') || unless(existsSync(jar), 'npm run test:long installs Specmatic');

const noQuotas = { QUOTA_POSTS_PER_DAY: '0', QUOTA_EDITS_PER_DAY: '0', QUOTA_REQUESTS_PER_DAY: '0' };

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

/** Operations whose positive scenarios fail, but for what chance makes right, by the reason. */
const withoutSuccess = {
  'needs a login at a provider': 'addIdentity finishProviderLogin removeIdentity signUpWithProvider',
  'needs the code of an email': 'changeEmail confirmEmail',
  'needs the link of an email':
    'confirmPasswordReset showUnsubscribePage undoEmailChange unsubscribe validatePasswordReset',
  'needs a code of an authenticator app': 'confirmTotp finishLogin',
  'needs an authenticator': 'deletePasskey finishPasskeyLogin finishPasskeyRegistration updatePasskey',
  'needs an image': 'deleteImage uploadImage',
  'needs the id of a session': 'endSession',
  'needs the refresh token of a login': 'refreshToken',
  'needs an account with a second factor': 'replaceRecoveryCodes',
  'Specmatic sends numbers that are no categories': 'createStore',
  'Specmatic rejects properties that a form in `anyOf` does not name': 'downloadOwnData',
};

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
  const failing = Object.values(withoutSuccess).join(' ').split(' ');
  const expected = positives.filter(({ operationId = '' }) => !failing.includes(operationId));
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

/**
 * Users, stores and posts on which the operations of Specmatic can succeed.
 *
 * @returns what gives a request the token of a user who may send it, and the id of an object of its own in place of a valid one
 */
async function createWorld(app: TestApp) {
  const { call } = app;
  const admin = await createAdmin(app);
  const owner = await openShop(app);
  const neighbour = await openShop(app);
  const newPost = async () => (await createPost(app, owner.token)).id;

  const newRequest = async () => sendRequest(app, neighbour, { id: await newPost() });
  const newUser = async () => (await createUser(app)).id;
  /** Makes the object that an operation is about. @returns its id */
  const objects: Record<string, () => Promise<number>> = {
    getStore: async () => owner.store.id,
    reportStore: async () => owner.store.id,
    getPost: newPost,
    updatePost: newPost,
    deletePost: newPost,
    reportPost: newPost,
    getPartnerRequest: newRequest,
    acceptPartnerRequest: newRequest,
    declinePartnerRequest: newRequest,
    withdrawPartnerRequest: newRequest,
    endPartnerRequest: async () =>
      becomePartners(app, { sender: neighbour, receiver: owner, post: { id: await newPost() } }),
    async deleteSavedSearch() {
      const body = { name: '동네', region: '망원동' };
      return (await call('POST', '/api/v1/saved-searches/', { token: owner.token, body })).body.data.id;
    },
    // Of a store of its own, because the example hides it.
    closeReport: async () => sendReport(app, owner, 'stores', (await openShop(app)).store.id),
    getUser: newUser,
    suspendUser: newUser,
    reactivateUser: newUser,
    endUserSessions: newUser,
    removeUserSecondFactor: newUser,
    retryFailedMail: async () => addFailedMail(app, owner),
  };
  /**
   * Operations that change the user or the session, or that a user can do once. Of the values of a discriminator with one schema,
   * Specmatic knows the first, so that notifications of a user with others may fail.
   */
  const ownUser =
    /^(?:listNotifications|logOut|deleteCurrentUser|changePassword|changeEmail|end\w*Sessions?|createStore|createSavedSearch|report\w+|startTotp|downloadOwnData)$/;

  async function userFor({ operationId, path }: DocumentedOperation): Promise<{ token: string }> {
    if (path.startsWith('/api/v1/admin/')) return admin;
    if (ownUser.test(operationId)) return createUser(app);
    return /^(?:create|withdraw)PartnerRequest$/.test(operationId) ? neighbour : owner;
  }

  return async (operation: DocumentedOperation | undefined, request: IncomingMessage): Promise<void> => {
    if (operation === undefined) return;
    if (request.headers.authorization === 'Bearer token')
      request.headers.authorization = `Bearer ${(await userFor(operation)).token}`;
    const object = objects[operation.operationId];
    const maximum = operation.parameters?.find((one) => one.in === 'path')?.schema['maximum'];
    const [, id] = /\/([1-9]\d*)\//.exec(request.url ?? '') ?? [];
    if (object && Number(id) <= Number(maximum))
      request.url = request.url?.replace(`/${id}/`, `/${await object()}/`);
  };
}
