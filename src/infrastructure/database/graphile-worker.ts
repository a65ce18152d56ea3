/** What is used of the package, in a file of its own, so that it can be loaded after the start. */
export { Logger, run, runMigrations } from 'graphile-worker';
