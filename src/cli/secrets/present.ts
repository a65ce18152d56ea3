import { existsSync, readFileSync } from 'node:fs';
import { type Config, inspectConfig } from '../../config/config.ts';
import { secretPath } from '../../config/secrets.ts';
import { CommandError } from '../command-error.ts';

/** The secrets in use, and where they are kept. */
export interface PresentSecrets {
  secrets: string[];
  /** `JWT_SECRET`, or the file of the generated secret. */
  source: string;
  config: Config;
}

/**
 * Reads the secrets as the service does, but generates none.
 *
 * @throws {CommandError} `no_secret`, `weak_secret`
 */
export function readPresentSecrets(environment: NodeJS.ProcessEnv): PresentSecrets {
  const { config, environment: values, problems } = inspectConfig(environment);
  const path = secretPath(config.dataDirectory);
  const isFile = values.JWT_SECRET === undefined && !config.production;
  const source = isFile ? path : 'JWT_SECRET';
  const text = isFile && existsSync(path) ? readFileSync(path, 'utf8').trim() : (values.JWT_SECRET ?? '');
  if (text === '') {
    throw new CommandError(
      'no_secret',
      isFile
        ? `JWT_SECRET is not set, and the service has not generated a secret in ${path} yet: there is nothing to rotate`
        : 'JWT_SECRET is not set: run the command with the environment of the service, or print a first secret with --leaked',
    );
  }
  if (problems.some((problem) => problem.startsWith('JWT_SECRET') || problem.startsWith(path))) {
    throw new CommandError(
      'weak_secret',
      `${source} is weak or a placeholder, so that it must not be kept beside a new one: use --leaked`,
    );
  }
  return { secrets: text.split(','), source, config };
}
