import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/*
 * Imported before tap, which follows every promise with async_hooks to find the test of an error that nothing awaits, which costs CPU
 * at each promise. Without it such an error ends the process, which fails the run.
 */
const none = { enable: () => none, disable: () => none };
asyncHooks.createHook = () => none;
syncBuiltinESMExports();
