import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Authenticator } from '../authentication.ts';

/** Reads the Bearer token (RFC 6750, section 2.1) of every request, before rate limits are counted per user. */
export const credentialsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { authenticator }: { authenticator: Authenticator }) => {
    app.decorate('authenticator', authenticator);
    app.decorateRequest('credentials', null);
    app.decorateRequest('currentUser', null);
    app.addHook('onRequest', (request, _reply, done) => {
      const token = /^Bearer +(\S.*)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (token !== undefined) request.credentials = authenticator.verifyAccessToken(token.trim());
      done();
    });
  },
);
