import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const read = async (name) => JSON.parse(await readFile(new URL(name, import.meta.url), 'utf8'));
const files = (await readdir(new URL('.', import.meta.url))).filter((name) => name.endsWith('.json'));
const [base, ...others] = await Promise.all(
  ['ko.json', ...files.filter((name) => name !== 'ko.json')].map(read),
);

/** The names in braces. */
const parameters = (text) => [...new Set(JSON.stringify(text).match(/\{\w+\}/g))].sort();

test('all languages have the same texts, with the same parameters', () => {
  for (const texts of others) {
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(base).sort());
    for (const [key, text] of Object.entries(base))
      assert.deepEqual(parameters(texts[key]), parameters(text), key);
  }
});
