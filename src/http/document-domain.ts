import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';

interface DomainDocumentation {
  /** The tag of the domain's operations in the OpenAPI document. */
  tag: string;
  /** Schemas that the domain's routes refer to by `$id`; the document names them. */
  schemas: readonly TSchema[];
}

/** Documents the scope of a domain: its schemas, and one tag for all its operations. */
export const documentDomain = fastifyPlugin(
  async (app: FastifyInstance, { tag, schemas }: DomainDocumentation) => {
    for (const schema of schemas) app.addSchema(schema);
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, tags: [tag] };
    });
  },
);
