import process from 'node:process';
import { Worker } from 'node:worker_threads';

/*
 * npm run example
 *
 * The service, as `npm start` runs it, and the frontend of examples/web beside it. Both are in one process, so that nothing is
 * left when it ends; the frontend has a thread of its own, because to transform files would delay responses of the service.
 */
const apiUrl = `http://localhost:${process.env.PORT ?? 3000}`;
/** Where emails link to, by which the service knows it, too. */
const frontendUrl = process.env.FRONTEND_URL ?? 'http://localhost:5173';

if (await isServed(`${apiUrl}/health/live`)) {
  fail(`Something already answers at ${apiUrl}. If that is Dure, start only the frontend beside it:

  npm run build:client && npm run dev --workspace examples/web

Otherwise stop it, or choose another port: PORT=3001 npm run example`);
}
if (await isServed(frontendUrl)) {
  fail(`Something already answers at ${frontendUrl}, where emails link to. Stop it, or choose another port:

  FRONTEND_URL=http://localhost:5180 npm run example`);
}

// Listens when this returns, and ends the process where it cannot. It also handles signals.
await import('../dist/server.js');

const frontend = new Worker(new URL('../examples/web/serve.mjs', import.meta.url), {
  env: { ...process.env, VITE_API_URL: apiUrl },
  workerData: { port: Number(new URL(frontendUrl).port) },
});
frontend.on('message', () => {
  process.stderr.write(`The frontend is at ${frontendUrl}
  Log in there with 개발용 로그인, which needs no account, or sign up: the code is in the mailbox at ${apiUrl}/dev/mailbox/
  Press Ctrl-C to stop both.\n\n`);
});
frontend.on('error', (error) => {
  process.stderr.write(`The frontend has failed: ${error.message}\n`);
  // The service shuts down as on Ctrl-C.
  process.kill(process.pid, 'SIGTERM');
});

/** Any response counts. */
async function isServed(url) {
  try {
    await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return true;
  } catch {
    return false;
  }
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
