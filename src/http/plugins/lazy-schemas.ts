import buildValidatorSelector from '@fastify/ajv-compiler';
import { SerializerSelector as buildSerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { TSchema } from '@sinclair/typebox';
import type { FastifyInstance, FastifyServerOptions } from 'fastify';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import fastifyPlugin from 'fastify-plugin';
import { enumKeywords } from '../schemas.ts';
import { addTextRules } from '../text.ts';

const validatorOptions: NonNullable<FastifyServerOptions['ajv']> = {
  customOptions: {
    coerceTypes: false,
    removeAdditional: false,
    allErrors: true,
    useDefaults: true,
    validateFormats: false,
    // Unknown keywords are refused.
    keywords: enumKeywords,
    // Errors with their schema, which holds the text of a pattern.
    verbose: true,
    // To validate schemas against their own schema doubles the time of the first request.
    meta: false,
    validateSchema: false,
  },
  plugins: [addTextRules],
};

/**
 * Compiles the schemas of a route at its first request instead of at start, with Fastify's own compilers: those of all
 * operations take longer than the rest of the start. An invalid schema fails at its first request, so every operation needs
 * a test. Names in schemas of headers must be in lower case.
 */
export const lazySchemasPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  const selectValidator = buildValidatorSelector();
  const selectSerializer = buildSerializerSelector();
  app.addHook('onRoute', function (route) {
    route.validatorCompiler = (part) => {
      const validator = once(() => selectValidator(schemasOf(this), validatorOptions)(part));
      // Fastify reads the errors from the function that it called.
      const validate: FastifyValidationResult = (data) => {
        const isValid = validator()(data) === true;
        validate.errors = validator().errors ?? null;
        return isValid;
      };
      return validate;
    };
    route.serializerCompiler = ({ httpStatus = '', ...part }) => {
      const serializer = once(() => selectSerializer(schemasOf(this), {})({ ...part, httpStatus }));
      return (data) => serializer()(data);
    };
  });
});

/** What schemas refer to, by their `$id`. */
function schemasOf(scope: FastifyInstance): Record<string, TSchema> {
  return scope.getSchemas() as Record<string, TSchema>;
}

/** A function that computes its value at its first call. */
export function once<Value>(compute: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}
