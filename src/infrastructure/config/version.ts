import { createRequire } from 'node:module';

/** The version of the service, from `package.json`. */
export const version: string = createRequire(import.meta.url)('#package/package.json').version;
