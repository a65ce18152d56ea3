import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { currentUser } from '../http/authentication.ts';

/** The person who administers the service: an admin through the API, or somebody with the command. */
export interface Operator {
  /** As audit entries name the person: `admin:` and the id of the account, or `cli:` and a name. At most 100 characters. */
  name: string;
  /** The account of an admin; undefined for the command. */
  userId: number | undefined;
  /** Id and client address of the request; undefined for the command. */
  request: { id: string; address: string } | undefined;
  /** Gets one line for each audit entry. */
  log: Pick<FastifyBaseLogger, 'info'>;
}

/** The admin who sent a request, in a scope of `requireAdmin`. */
export function requestOperator(request: FastifyRequest): Operator {
  const { id } = currentUser(request);
  return {
    name: `admin:${id}`,
    userId: id,
    request: { id: request.id, address: request.clientIp },
    log: request.log,
  };
}

/** The person who runs the command. */
export function commandOperator(name: string, log: Operator['log']): Operator {
  return { name: `cli:${name}`.slice(0, 100), userId: undefined, request: undefined, log };
}
