import type { FastifySchema, RouteOptions } from 'fastify';
import { type ErrorDefinition, httpErrors } from '../http/errors.ts';
import { isObject, type JsonObject } from './components.ts';

/** A route of the document. */
export interface DocumentedRoute extends Pick<RouteOptions, 'method' | 'config'> {
  schema: FastifySchema & { operationId: string; security?: JsonObject[]; querystring?: JsonObject };
}

/** Whether a route is an operation of the document. */
export function isDocumented(route: RouteOptions): route is RouteOptions & DocumentedRoute {
  return route.schema !== undefined && 'operationId' in route.schema;
}

/** Whether an operation responds in the envelope, or with a stream. Health checks and public keys do not. */
export function usesEnvelope({ config }: DocumentedRoute): boolean {
  return config?.message !== undefined || config?.errors !== undefined;
}

/** How often an operation may be called; undefined where nothing but the common limit holds. */
export function limitOf({ config }: DocumentedRoute): string | undefined {
  if (config?.probe) return 'Requests are not counted.';
  if (config?.limit === undefined) return undefined;
  const { max, per } = config.limit;
  return per === 'user'
    ? `Limit: ${max} requests a minute of one user, together with the other operations that have this limit.`
    : `Limit: ${max} requests a minute from one address, counted apart from other operations.`;
}

/** Every error of an operation: those of its configuration, and those that follow from its input and its scope. */
export function errorsOf(route: DocumentedRoute): ErrorDefinition[] {
  if (!usesEnvelope(route)) return [httpErrors.malformedRequest];
  const { schema, method, config } = route;
  const { security, querystring } = schema;
  // A body is read even where the operation needs none.
  const readsBody = [method].flat().some((one) => one !== 'GET');
  const isMultipart = (schema.consumes ?? []).includes('multipart/form-data');
  return [
    // At least an unknown query parameter is rejected.
    httpErrors.validationError,
    ...(isObject(querystring?.['properties']) && 'cursor' in querystring['properties']
      ? [httpErrors.invalidCursor]
      : []),
    ...(readsBody ? [httpErrors.payloadTooLarge, httpErrors.unsupportedMediaType] : []),
    ...(readsBody && !isMultipart ? [httpErrors.malformedJson] : []),
    ...(security?.every((one) => 'bearer' in one) ? [httpErrors.notAuthenticated] : []),
    ...(security ? [httpErrors.tokenNotValid] : []),
    httpErrors.rateLimited,
    httpErrors.internalError,
    httpErrors.serviceUnavailable,
    ...(config?.errors ?? []),
    ...(config?.idempotent ? [httpErrors.idempotencyConflict] : []),
  ];
}
