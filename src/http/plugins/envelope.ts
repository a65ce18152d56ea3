import { type TSchema, Type } from '@sinclair/typebox';
import type { FastifyInstance, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { ErrorDefinition } from '../errors.ts';
import { IdempotencyHeaders, IdempotencyReplayed } from '../idempotency.ts';
import type { LocalizedText } from '../language.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `message` of a successful answer. A route that has one answers in the envelope. */
    message?: LocalizedText;
    /** A second `message` of a successful answer, where a handler sets `reply.hasOtherMessage`. */
    otherMessage?: LocalizedText;
    /**
     * Failures of the operation besides those that follow from its schema and scope. A streaming route has no `message`; with
     * `[]` its failures are documented all the same.
     */
    errors?: readonly ErrorDefinition[];
    /** Whether the operation takes an `Idempotency-Key`; its handler answers with `sendCreated`. */
    idempotent?: boolean;
  }
  interface FastifyReply {
    /** Whether the answer has the `otherMessage` of its route. */
    hasOtherMessage: boolean;
  }
}

/**
 * Wraps what a handler returns, and the schema it declares for it, into the envelope `{ success, message, data }`, and gives
 * idempotent operations their header.
 */
export const envelopePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.decorateReply('hasOtherMessage', false);
  app.addHook('onRoute', (route) => {
    if (route.config?.idempotent) route.schema = { headers: IdempotencyHeaders, ...route.schema };
    if (route.config?.message) wrapResponses(route, route.config.message);
  });
  app.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    const { message, otherMessage } = request.routeOptions.config;
    const text = reply.hasOtherMessage ? otherMessage : message;
    if (text === undefined || reply.statusCode >= 300) done(null, payload);
    else done(null, { success: true, message: text[request.language], data: payload });
  });
});

function wrapResponses(route: RouteOptions, message: LocalizedText): void {
  const responses = Object.entries((route.schema?.response ?? {}) as Record<string, TSchema>);
  const wrapped = responses.map(([status, data]) => {
    // A 304 has no body. A `HEAD` route shares the schema of its `GET` route, which is wrapped already.
    const isWrapped = Number(status) >= 300 || ('properties' in data && 'success' in data['properties']);
    return [status, isWrapped ? data : envelopeOf(data, route, message)];
  });
  route.schema = { ...route.schema, response: Object.fromEntries(wrapped) };
}

/** The schema of an answer. `headers` of the answer are documented beside it. */
function envelopeOf(
  { headers, ...data }: TSchema,
  { config }: RouteOptions,
  message: LocalizedText,
): TSchema {
  const envelope = Type.Object({
    success: Type.Literal(true, { description: 'Always `true`' }),
    message: {
      ...Type.String({ description: 'For people, in the language of the answer' }),
      examples: [message, config?.otherMessage].flatMap((text) => text?.ko ?? []),
    },
    data,
  });
  const documented = config?.idempotent ? { ...headers, ...IdempotencyReplayed } : headers;
  return documented === undefined ? envelope : { ...envelope, headers: documented };
}
