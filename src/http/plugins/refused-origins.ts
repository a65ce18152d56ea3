import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.ts';

/** Every client can send any `Origin`, so the log and the memory for it are bounded. */
const maxLogged = 20;

type Options = Pick<Config, 'production' | 'corsOrigins'>;

/**
 * Logs each origin that `CORS_ORIGINS` does not allow, once: a browser shows the failure to the developer of a page, but not
 * the setting that would allow it. A warning outside production only, because strangers could cause it.
 */
export const refusedOriginsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { config }: { config: Options }) => {
    const logged = new Set<string>();
    app.addHook('onRequest', (request, _reply, done) => {
      const { origin, 'sec-fetch-mode': mode } = request.headers;
      // A browser shows the answer to a form on a page of any origin.
      if (mode === 'navigate') return done();
      if (origin !== undefined && logged.size < maxLogged && !logged.has(origin)) {
        const reason = refusalOf(origin, request, config.corsOrigins);
        if (reason !== undefined) {
          logged.add(origin);
          request.log[config.production ? 'info' : 'warn']({ origin }, reason);
          if (logged.size === maxLogged) request.log.info('further refused origins are not logged');
        }
      }
      done();
    });
  },
);

/** Why a browser keeps the answer from a page; undefined when it does not, or when no browser sends such a header. */
function refusalOf(origin: string, { host }: FastifyRequest, allowed: readonly string[]): string | undefined {
  if (origin === 'null') {
    return 'the page has no origin, as a file or a sandboxed frame, so CORS_ORIGINS cannot allow it: serve it over HTTP';
  }
  if (allowed.includes(origin) || origin.length > 255 || !URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  // A browser sends `Origin` to the own origin as well, for example with a `POST` of Swagger UI.
  if (url.origin !== origin || url.host === host) return undefined;
  return 'CORS_ORIGINS does not name this origin, so browsers keep the answer from its pages: add it if they are yours';
}
