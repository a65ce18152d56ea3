import jwt from '@fastify/jwt';
import { fastify } from 'fastify';
import { pino } from 'pino';
import type { Operator } from '../admin/operator.ts';
import { jwtOptions } from '../auth/tokens.ts';
import { ConfigError, inspectConfig } from '../config/config.ts';
import { createDomains, type Domains } from '../domains.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { CommandError, exitCodes } from './command-error.ts';
import { withDatabase } from './connection.ts';
import type { Invocation } from './invocation.ts';
import { createOperator } from './operator.ts';

/** What the API administers with, for the person who runs the command. */
export interface Services {
  users: Domains['admin']['users'];
  failedMails: Domains['admin']['failedMails'];
  operator: Operator;
  /** @throws {CommandError} `user_not_found` */
  findUser(reference: string): Promise<number>;
}

/**
 * Runs work with the services of the API, without HTTP, so that its rules and audit entries are the same.
 *
 * @param options.operator of `--operator`
 * @throws {ConfigError} the environment must be that of the service
 */
export async function withServices<Result>(
  invocation: Invocation,
  options: { operator?: string },
  work: (services: Services) => Promise<Result>,
): Promise<Result> {
  // Generates no secret: the command leaves no trace in a folder without a service.
  const { config, problems } = inspectConfig(invocation.environment);
  if (problems.length > 0) throw new ConfigError(problems);
  const operator = createOperator(invocation, options);
  return withDatabase(invocation.environment, async (database) => {
    // Domains sign tokens with it; no command does.
    const app = fastify();
    await app.register(jwt, jwtOptions(config));
    const { users, failedMails } = (
      await createDomains({
        config,
        database,
        jwt: app.jwt,
        logger: pino({ level: 'warn' }, invocation.log),
        metrics: createMetrics(),
        tracing: undefined,
        storage: undefined,
      })
    ).admin;
    async function findUser(reference: string): Promise<number> {
      const id = await users.findId(reference);
      if (id !== undefined) return id;
      throw new CommandError('user_not_found', `there is no user "${reference}"`, exitCodes.notFound);
    }
    return work({ users, failedMails, operator, findUser });
  });
}
