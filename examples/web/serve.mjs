import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/* The development server as a module, for a thread of `npm run example`. */
const server = await createServer({
  root: fileURLToPath(new URL('.', import.meta.url)),
  clearScreen: false,
  logLevel: 'warn',
});
await server.listen();
