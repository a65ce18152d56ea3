import { syncBuiltinESMExports } from 'node:module';
import perfHooks from 'node:perf_hooks';

/*
 * Loaded before a service that a test starts: its event loop never seems late, so that it rejects no request after a pause of the
 * machine. The tests of the overload do without.
 */
const { monitorEventLoopDelay } = perfHooks;
perfHooks.monitorEventLoopDelay = (options) =>
  Object.defineProperty(monitorEventLoopDelay(options), 'mean', { value: 0 });
syncBuiltinESMExports();
