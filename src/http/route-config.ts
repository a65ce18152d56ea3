// brings `schema.hide`
import type {} from '@fastify/swagger';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyPluginOptions } from 'fastify';
import type { ErrorDefinition } from './errors.ts';
import type { LocalizedText } from './language.ts';

/** How often the operations of a group may be called. */
export interface RateLimit {
  /** The operations of a group are counted together. */
  group: string;
  /** Requests per minute. */
  max: number;
  /** What is counted: the client's address by default. With `user`, requests without a user have the common limit. */
  per?: 'user';
}

/**
 * Who may call an operation: anyone; anyone, who is known where the request has a Bearer token, of which an invalid one is rejected;
 * a user; an admin, and for all other users there is nothing at its path.
 */
export type Access = 'anyone' | 'optional' | 'user' | 'admin';

/** A plugin of routes whose handlers have the types of their schemas. */
export type Routes<Options extends FastifyPluginOptions = FastifyPluginOptions> =
  FastifyPluginAsyncTypebox<Options>;

/** Who may call an operation, and the `message` of its success, for its `config`. */
export const operation = (access: Access, ko: string, en: string) => ({ access, message: { ko, en } });

declare module 'fastify' {
  /** What a route says in its `config`; hooks read it from `request.routeOptions.config`. */
  interface FastifyContextConfig {
    /** Who may call it; an operation without it stops the start. `security` of the document follows from it. */
    access?: Access;
    /** The `message` of a success. A route that has one responds in the envelope. */
    message?: LocalizedText;
    /** A second `message` of a success, for `data` whose `accepted` is false. */
    alternateMessage?: LocalizedText;
    /** Errors besides those that follow from schema and access. A streaming route has no `message`, and `[]` documents its errors. */
    errors?: readonly ErrorDefinition[];
    /** The operation takes an `Idempotency-Key`; its handler ends with `sendCreated`. */
    idempotent?: boolean;
    /** What such an operation creates is read at the path of the operation and its `id`: 201 has that as `Location`. */
    location?: boolean;
    /** Statuses with which the response may set or clear the cookie of the refresh token. */
    setsCookie?: readonly number[];
    /** The limit of the operation, in place of the common ones. */
    limit?: RateLimit;
    /** Monitoring calls the operation all the time: it is not counted, not traced, and logged only where it fails. */
    probe?: boolean;
    /** The handler reads the body, which may take as long as the client takes. It pauses the deadline. */
    handlerReadsBody?: boolean;
    /** The most bytes of a streamed response that are in memory at a time, where its length is not known. */
    readAhead?: number;
    /** The route is for what has no other one in its scope: handled after the hooks of the scope, with `unmatchedError`. */
    catchAll?: boolean;
  }
}
