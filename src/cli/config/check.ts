import { inspectConfig } from '../../config/config.ts';
import { findDeploymentWarnings } from '../../config/deployment-warnings.ts';
import { CommandError } from '../command-error.ts';
import type { Invocation } from '../invocation.ts';
import { table } from '../output.ts';
import { effectiveSettings } from './settings.ts';

interface CheckOptions {
  settings?: true;
  strict?: true;
  connect?: true;
}

/** `dure config check`. @throws {CommandError} `invalid_configuration`, after the list */
export async function checkConfig(
  { environment: given, output }: Invocation,
  options: CheckOptions,
): Promise<void> {
  const { environment, config, problems } = inspectConfig(given);
  const { warnings, notes } = findDeploymentWarnings(environment, config);
  const found = { problems: [...problems], warnings: [...config.warnings, ...warnings], notes: [...notes] };
  if (options.connect) {
    const { tryConnections } = await import('./connect.ts');
    const tried = await tryConnections(environment, config);
    found.problems.push(...tried.problems);
    found.warnings.push(...tried.warnings);
    found.notes.push(...tried.notes);
  }
  const settings = options.settings ? effectiveSettings(given, environment, config) : undefined;
  output.result(
    { is_usable: found.problems.length === 0, ...found, ...(settings ? { settings } : {}) },
    () => {
      const lines = [
        ...found.problems.map((text) => `problem  ${text}`),
        ...found.warnings.map((text) => `warning  ${text}`),
        ...found.notes.map((text) => `note     ${text}`),
      ];
      if (settings)
        lines.push(
          '',
          table(
            ['setting', 'source', 'value'],
            settings.map((one) => [one.name, one.source, one.value]),
            '',
          ),
        );
      return lines.length > 0 ? lines.join('\n') : 'nothing is wrong or weak';
    },
  );
  const {
    problems: { length: wrong },
    warnings: { length: weak },
  } = found;
  if (wrong > 0)
    throw new CommandError(
      'invalid_configuration',
      `${count(wrong, 'problem')}: the service does not work with this configuration`,
    );
  if (weak > 0 && options.strict)
    throw new CommandError('weak_configuration', `${count(weak, 'warning')} (--strict)`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
