import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { createOutput } from './cli/command.ts';
import { runProgram } from './cli/program.ts';

/** The process of `dure`, the administration command. */
const [, , ...args] = process.argv;

// Optimizing Prisma's query compiler, which is WebAssembly, takes longer than a command does.
setFlagsFromString('--liftoff-only');

for (const stream of [process.stdout, process.stderr]) {
  // A reader that has seen enough, such as `head`, is no error.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(process.exitCode);
  });
}

process.exitCode = await runProgram(args, {
  environment: process.env,
  output: createOutput({ json: args.includes('--json'), stdout: process.stdout, stderr: process.stderr }),
  log: process.stderr,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
});
