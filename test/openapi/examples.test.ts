import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import t from 'tap';
import { contract } from '../support/contract.ts';
import { root } from '../support/files.ts';
import { tellStory } from './story.ts';

/*
 * The examples of openapi.yaml are what the service responded to one story. UPDATE_EXAMPLES=1 writes them.
 */

t.test('the examples of the document are what the service responds', async (t) => {
  const { examples } = await tellStory(t);
  const file = join(root, 'src/openapi/examples.json');
  const sorted = Object.fromEntries(
    Object.entries(examples).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  const content = `${JSON.stringify(sorted, null, 2)}\n`;
  if (process.env['UPDATE_EXAMPLES']) await writeFile(file, content);
  t.equal(content, await readFile(file, 'utf8'), 'update them with UPDATE_EXAMPLES=1, then npm run openapi');

  for (const { operationId, responses } of contract.operations) {
    const shown = Object.values(examples[operationId] ?? {}).map((example) => String(example.status));
    for (const [status, { content }] of Object.entries(responses))
      if (Number(status) < 300 && content?.['application/json']) t.ok(shown.includes(status), operationId);
  }
});
