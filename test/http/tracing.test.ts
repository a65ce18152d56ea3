import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createTestApp } from '../support/app.ts';

t.test('with an OTLP endpoint, requests are traced by their route and without their query', async (t) => {
  const exports: string[] = [];
  const collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      exports.push(`${request.url} ${Buffer.concat(chunks).toString('utf8')}`);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  t.teardown(() => collector.close());
  const { port } = collector.address() as AddressInfo;

  const app = await createTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  await app.call('GET', '/auth/reset-password-validate/?uid=canary-uid&token=canary-token');
  await app.close();

  const spans = exports.join('\n');
  t.match(spans, /^\/v1\/traces /);
  t.match(spans, 'reset-password-validate');
  t.notMatch(spans, 'canary');
});
