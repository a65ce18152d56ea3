import fc from 'fast-check';
import t from 'tap';
import { noErrorLogged } from '../support/assertions.ts';
import type { DocumentedOperation } from '../support/contract.ts';
import {
  createOperationsApp,
  fieldsOf,
  type OperationRequest,
  operations,
  operationsWithBody,
  problemsOf,
} from './operations.ts';

const { app, send } = await createOperationsApp(t);
const json = { 'content-type': 'application/json' };

/** Sends random requests. @throws with the smallest request whose answer is not documented */
async function explore(
  operation: DocumentedOperation,
  requests: fc.Arbitrary<OperationRequest>,
  numRuns: number,
) {
  const property = fc.asyncProperty(requests, async (request) => {
    const problems = problemsOf(operation, await send(operation, request));
    if (problems.length > 0) throw new Error(problems.join('; '));
  });
  await fc.assert(property, { numRuns });
}

/** Short texts in which refused characters are frequent. */
const oddText = fc.string({
  unit: fc.constantFrom('a', '1', '가', '\u0000', '\ud800'),
  minLength: 1,
  maxLength: 4,
});
const anything = fc.oneof(
  { arbitrary: oddText, weight: 3 },
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.oneof(fc.integer(), fc.string(), fc.webUrl()), { maxLength: 12 }),
);

t.test('a random body gets a documented answer', async (t) => {
  for (const operation of operationsWithBody) {
    const fields = fieldsOf(operation);
    // With one wrong field the request gets further than with several.
    const almostValid = fc
      .tuple(fc.constantFrom(...fields), anything)
      .map(([{ name, body }, value]) => ({ ...body, [name]: value }));
    const bodies = fc.oneof({ arbitrary: almostValid, weight: 3 }, fc.jsonValue());
    const requests = bodies.map((body) => ({ body: JSON.stringify(body), headers: json }));
    await t.resolves(explore(operation, requests, 20), operation.operationId);
  }
});

t.test('a random query gets a documented answer', async (t) => {
  const values = fc.oneof(
    oddText,
    fc.string({ unit: 'binary' }),
    fc.integer().map(String),
    fc.constant('true'),
  );
  for (const operation of operations) {
    const names = (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    if (names.length === 0) continue;
    const pair = fc.tuple(fc.constantFrom(...names), values);
    const requests = fc
      .uniqueArray(pair, { maxLength: 3, selector: ([name]) => name })
      .map((pairs) => ({
        query: `?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&')}`,
      }));
    await t.resolves(explore(operation, requests, 30), operation.operationId);
  }
});

t.test('no random input is an error of the service', async (t) => {
  noErrorLogged(t, app.logs);
});
