import fc from 'fast-check';
import t from 'tap';
import {
  createOperationsApp,
  eachOperation,
  fieldsOf,
  type OperationRequest,
  operations,
  operationsWithBody,
} from '../../http/operations.ts';
import type { DocumentedOperation } from '../../support/contract.ts';

const { send } = await createOperationsApp();
const json = { 'content-type': 'application/json' };

/** Sends random requests. @returns the smallest request whose response is not documented */
async function explore(
  operation: DocumentedOperation,
  requests: fc.Arbitrary<OperationRequest>,
  numRuns: number,
): Promise<string[]> {
  const property = fc.asyncProperty(requests, async (request) => void (await send(operation, request)));
  const { failed, counterexample, errorInstance } = await fc.check(property, { numRuns });
  return failed ? [`${JSON.stringify(counterexample)}: ${errorInstance}`] : [];
}

/** Short texts in which rejected characters are frequent. */
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

t.test('a random body gets a documented response', (t) =>
  eachOperation(t, operationsWithBody, 25, (operation) => {
    // With one wrong field the request gets further than with several.
    const almostValid = fc
      .tuple(fc.constantFrom(...fieldsOf(operation)), anything)
      .map(([{ name, body }, value]) => ({ ...body, [name]: value }));
    const bodies = fc.oneof({ arbitrary: almostValid, weight: 3 }, fc.jsonValue());
    const requests = bodies.map((body) => ({ body: JSON.stringify(body), headers: json }));
    return explore(operation, requests, 20);
  }),
);

t.test('a random query gets a documented response', (t) => {
  const values = fc.oneof(
    oddText,
    fc.string({ unit: 'binary' }),
    fc.integer().map(String),
    fc.constant('true'),
  );
  const namesOf = ({ parameters = [] }: DocumentedOperation) =>
    parameters.filter((one) => one.in === 'query').map(({ name }) => name);
  const withQuery = operations.filter((operation) => namesOf(operation).length > 0);
  return eachOperation(t, withQuery, 12, (operation) => {
    const pair = fc.tuple(fc.constantFrom(...namesOf(operation)), values);
    const requests = fc
      .uniqueArray(pair, { maxLength: 3, selector: ([name]) => name })
      .map((pairs) => ({
        query: `?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`).join('&')}`,
      }));
    return explore(operation, requests, 30);
  });
});
