import { type TSchema, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { ErrorDefinition } from '../errors.ts';
import type { Text } from '../language.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `message` of a successful answer. A route that has one answers in the envelope. */
    message?: Text;
    /**
     * Failures of the operation besides those that follow from its schema and scope. A route that streams, and so has no
     * `message`, says `[]`, for the latter to be documented.
     */
    errors?: readonly ErrorDefinition[];
  }
}

/** The shape of every answer under `/auth/` and `/api/`. `headers` of an answer are documented beside it. */
function envelopeOf({ headers, ...data }: TSchema): TSchema {
  const envelope = Type.Object({
    success: Type.Literal(true),
    message: Type.String({ description: 'For people, in the language of the answer' }),
    data,
  });
  return headers === undefined ? envelope : { ...envelope, headers };
}

function envelope(request: FastifyRequest, data: unknown) {
  const text = request.routeOptions.config.message;
  return { success: true, message: text?.[request.language] ?? '', data };
}

/** Puts what a handler returns, and the schema it declares for it, into the envelope. */
export const envelopePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    if (!route.config?.message || !route.schema?.response) return;
    const responses = Object.entries(route.schema.response as Record<string, TSchema>);
    // `HEAD` routes are made from their `GET` route and share its schema, which then is wrapped already.
    route.schema = {
      ...route.schema,
      response: Object.fromEntries(
        responses.map(([status, data]) => [
          status,
          // A 304 has no body.
          Number(status) >= 300 || isEnvelope(data) ? data : envelopeOf(data),
        ]),
      ),
    };
  });
  app.addHook('preSerialization', async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const wrapped = reply.statusCode < 300 && request.routeOptions.config.message !== undefined;
    return wrapped ? envelope(request, payload) : payload;
  });
});

function isEnvelope(schema: TSchema): boolean {
  return 'properties' in schema && 'success' in schema['properties'];
}
