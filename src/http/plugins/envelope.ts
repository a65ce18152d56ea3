import { type TSchema, Type } from '@sinclair/typebox';
import type { FastifyInstance, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { IdempotencyHeaders } from '../idempotency.ts';
import type { LocalizedText } from '../language.ts';
import { Message } from '../schemas.ts';

/**
 * Wraps what a handler returns, and the schema it declares for it, into the envelope `{ success, message, data }`, and gives
 * idempotent operations their header.
 */
export const envelopePlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    if (route.config?.idempotent) route.schema = { headers: IdempotencyHeaders, ...route.schema };
    if (route.config?.message) wrapResponses(route, route.config.message);
  });
  app.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    const { message, alternateMessage } = request.routeOptions.config;
    const text = alternateMessage && isNotAccepted(payload) ? alternateMessage : message;
    if (text === undefined || reply.statusCode >= 300) done(null, payload);
    else done(null, { success: true, message: text[request.language], data: payload });
  });
});

const isNotAccepted = (data: unknown) => data instanceof Object && 'accepted' in data && !data.accepted;

function wrapResponses(route: RouteOptions, message: LocalizedText): void {
  const responses = Object.entries((route.schema?.response ?? {}) as Record<string, TSchema>);
  const wrapped = responses.map(([status, data]) => {
    // A 304 has no body. A `HEAD` route shares the schema of its `GET` route, which is wrapped already.
    const isWrapped = Number(status) >= 300 || ('properties' in data && 'success' in data['properties']);
    return [status, isWrapped ? data : envelopeOf(data, route, message)];
  });
  route.schema = { ...route.schema, response: Object.fromEntries(wrapped) };
}

function envelopeOf(data: TSchema, { config }: RouteOptions, message: LocalizedText): TSchema {
  return Type.Object({
    success: Type.Literal(true, { description: 'Always `true`' }),
    message: {
      ...Message('For people, in the language of the response', message.ko),
      examples: [message, config?.alternateMessage].flatMap((text) => text?.ko ?? []),
    },
    data,
  });
}
