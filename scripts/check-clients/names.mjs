import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

/** Types of the generators' own runtime, which accept anything on purpose. */
const runtimeTypes = new Set(['QueryParamsType']);

/** Folders of generated code that is the same for every document. */
const runtimeFolders = /(?:^|[/\\])(?:client|core)[/\\]/;

/**
 * What a client team would stumble over in generated types: a type that was renamed with a number because its name was taken,
 * two types whose names differ in case only, and `any`.
 *
 * @param {string} output folder of the clients
 * @param {string[]} generators their folders
 */
export async function nameProblems(output, generators) {
  const problems = await Promise.all(
    generators.map(async (generator) => {
      const folder = join(output, generator);
      const files = (await readdir(folder, { recursive: true }))
        .filter((file) => file.endsWith('.ts') && !runtimeFolders.test(file))
        .map((file) => join(folder, file));
      const types = (await Promise.all(files.map(typesOf))).flat();
      if (types.length === 0) return [`${generator}: no types`];
      return [...renamed(types), ...caseTwins(types), ...untyped(types)].map((one) => `${generator}: ${one}`);
    }),
  );
  return problems.flat();
}

async function typesOf(file) {
  const source = ts.createSourceFile(file, await readFile(file, 'utf8'), ts.ScriptTarget.Latest, true);
  return source.statements
    .filter(
      (node) =>
        ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node),
    )
    .map((node) => ({ name: node.name.text, node }));
}

function renamed(types) {
  const names = new Set(types.map(({ name }) => name));
  // Three digits are a status: `signUpResponse201`.
  return [...names]
    .filter((name) => names.has(name.replace(/(?<!\d)\d{1,2}$/, '')) && /(?<!\d)\d{1,2}$/.test(name))
    .map((name) => `${name} was renamed`);
}

function caseTwins(types) {
  const byName = groupByName(types);
  return [...byName.values()]
    .map((same) => [...new Set(same.map(({ name }) => name))])
    .filter((names) => names.length > 1)
    .map((names) => `${names.join(' and ')} differ in case only`);
}

function groupByName(types) {
  const groups = new Map();
  for (const type of types) {
    const key = type.name.toLowerCase();
    groups.set(key, [...(groups.get(key) ?? []), type]);
  }
  return groups;
}

function untyped(types) {
  return types
    .filter(({ name, node }) => !runtimeTypes.has(name) && containsAny(node))
    .map(({ name }) => `${name} contains any`);
}

function containsAny(node) {
  if (node.kind === ts.SyntaxKind.AnyKeyword) return true;
  return ts.forEachChild(node, containsAny) ?? false;
}
