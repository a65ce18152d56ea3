import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

/**
 * Documents the scope of a domain.
 *
 * @param options.tag of all its operations in the OpenAPI document
 * @param options.schemas to which its routes refer by `$id`; the document names them
 */
export const openApiScope = fastifyPlugin(
  async (app: FastifyInstance, { tag, schemas }: { tag: string; schemas: readonly TSchema[] }) => {
    for (const schema of schemas) app.addSchema(schema);
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, tags: [tag] };
    });
  },
);
