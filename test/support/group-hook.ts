import type { LoadHook, ResolveHook } from 'node:module';

const prefix = 'subtest:';

/** In a test file of a group, `import t from 'tap'` is the subtest that group.ts made for the file. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const { parentURL } = context;
  if (specifier !== 'tap' || !parentURL?.endsWith('.test.js')) return nextResolve(specifier, context);
  return { url: prefix + parentURL, shortCircuit: true };
};

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!url.startsWith(prefix)) return nextLoad(url, context);
  const group = new URL('group.js', import.meta.url).href;
  const file = url.slice(prefix.length);
  const source = `import { subtests } from '${group}'; export default subtests.get('${file}');`;
  return { format: 'module', source, shortCircuit: true };
};
