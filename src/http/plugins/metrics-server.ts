import { once } from 'node:events';
import { createServer } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../../metrics/metrics.ts';

interface MetricsServerOptions {
  metrics: Metrics;
  host: string;
  port: number;
}

/**
 * Serves `/metrics`, and nothing else, on a port of its own, so that the port of the API can be public. It starts before the app
 * listens and ends with it.
 */
export function serveMetrics(app: FastifyInstance, { metrics, host, port }: MetricsServerOptions): void {
  const { registry } = metrics;
  const server = createServer({ requestTimeout: 10_000 }, async ({ method, url }, response) => {
    if (url?.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end();
    try {
      const text = await registry.metrics();
      return response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } catch (error) {
      app.log.error({ err: error }, 'metrics cannot be read');
      return response.writeHead(500).end();
    }
  });

  app.addHook('onReady', async () => {
    server.listen(port, host);
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
      throw new PortError(`METRICS_PORT ${port} of ${host} cannot be opened: ${reason}`);
    });
    app.log.info({ host, port }, 'metrics server listening');
  });
  app.addHook('onClose', async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });
}

/** A port that the configuration names cannot be opened. */
export class PortError extends Error {
  override readonly name = 'PortError';
}
