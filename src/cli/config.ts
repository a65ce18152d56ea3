import type { Command } from 'commander';
import { group, leaf } from './command.ts';
import type { Invocation } from './invocation.ts';

/** `dure config`. */
export function addConfigCommands(program: Command, invocation: Invocation): void {
  const config = group(program, 'config', 'The configuration of the service');

  leaf(config, 'check', {
    summary: 'say what is wrong or weak in the environment variables',
    description: `Reads the environment variables as the service does at its start, and prints
  problem  stops the start of the service
  warning  works, but is weak or will not do what it is for
  note     right or wrong, depending on how the service is deployed
and with --settings every setting that is in effect. Never prints a password, key or secret. Run it where the service runs, with NODE_ENV=production, because the rules of production hold only there. Without --connect it connects to nothing.`,
    examples: [
      'dure config check',
      'NODE_ENV=production dure config check --settings --strict',
      'dure config check --connect',
    ],
    exitCodes: ['4  there are problems, or warnings with --strict'],
  })
    .option('--settings', 'print the settings that are in effect, too')
    .option('--strict', 'fail on warnings')
    .option('--connect', 'try the database and Redis, too')
    .action(async (options: { settings?: true; strict?: true; connect?: true }) => {
      const { checkConfig } = await import('./config/check.ts');
      await checkConfig(invocation, options);
    });
}
