import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { createServer } from 'vite';

/* The development server as a module, for a thread of `npm run example`. */
const server = await createServer({
  root: fileURLToPath(new URL('.', import.meta.url)),
  clearScreen: false,
  logLevel: 'warn',
  server: { port: workerData.port },
});
await server.listen();
parentPort?.postMessage('listening');
