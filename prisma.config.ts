import process from 'node:process';
import { defineConfig } from 'prisma/config';

// `prisma generate` downloads a schema engine that it does not run. Naming any executable skips the download.
// biome-ignore lint/style/noProcessEnv: the only way to tell Prisma
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma', migrations: { path: 'prisma/migrations' } });
