import { hostname, userInfo } from 'node:os';
import jwt from '@fastify/jwt';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { type AuditedAction, commandOperator, createAudit, type Operator } from '../domains/admin/index.ts';
import { jwtOptions } from '../domains/auth/index.ts';
import { createDomains, type Domains } from '../domains/index.ts';
import { loadConfig } from '../infrastructure/config/config.ts';
import type { Tx } from '../infrastructure/database/client.ts';
import { createMetrics } from '../infrastructure/telemetry/metrics.ts';
import type { AuditOptions, Invocation } from './command.ts';
import { withDatabase } from './connection.ts';

/** What the API administers with, for the person who runs the command. */
export type Services = Pick<Domains['admin'], 'users' | 'failedMails'> & { operator: Operator };

/** Runs work with the services of the API, without HTTP, so that its rules and audit entries are the same. @throws {ConfigError} */
export async function withServices<Result>(
  invocation: Invocation,
  options: AuditOptions,
  work: (services: Services) => Promise<Result>,
): Promise<Result> {
  // Generates no secret: the command leaves no trace in a folder without a service.
  const config = loadConfig(invocation.environment, { generateSecret: false });
  const operator = createOperator(invocation, options);
  return withDatabase(invocation.environment, async (database) => {
    // Domains sign tokens with it; no command does.
    const app = fastify();
    await app.register(jwt, jwtOptions(config));
    const { admin } = await createDomains({
      config,
      database,
      jwt: app.jwt,
      logger: pino({ level: 'warn' }, invocation.log),
      metrics: createMetrics(),
    });
    return work({ ...admin, operator });
  });
}

/** Runs work and writes its audit entry in one transaction. It needs the variables of the database only. */
export async function withAudit<Result>(
  invocation: Invocation,
  { operator, ...entry }: AuditedAction & AuditOptions,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return withDatabase(invocation.environment, (database) =>
    createAudit(database).audited(createOperator(invocation, { operator }), entry, work),
  );
}

/** The person who runs the command, as audit entries name them. */
function createOperator({ log }: Invocation, { operator: name }: AuditOptions): Operator {
  return commandOperator(name ?? `${systemUser()}@${hostname()}`, pino({ level: 'info' }, log));
}

/** A container may run under an id that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
