import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { root } from '../last-release.ts';
import type { Finding } from './rules.ts';

/** One entry of squawk's JSON. Lines are counted from 0. */
interface Violation {
  file: string;
  line: number;
  message: string;
  help: string | null;
  rule_name: string;
}

const program = join(
  dirname(createRequire(import.meta.url).resolve('squawk-cli/package.json')),
  'js/bin/squawk',
);

/** Runs squawk with .squawk.toml. @returns what it found, by file */
export async function runSquawk(
  files: string[],
  { isOutsideTransaction }: { isOutsideTransaction: boolean },
): Promise<Map<string, Finding[]>> {
  const found = new Map<string, Finding[]>();
  if (files.length === 0) return found;
  const options = ['--config', join(root, '.squawk.toml'), '--reporter', 'json'];
  if (isOutsideTransaction) options.push('--no-assume-in-transaction');
  for (const { file, line, message, help, rule_name } of await execute([...options, ...files])) {
    const finding = { rule: rule_name, line: line + 1, message: help ? `${message} ${help}` : message };
    found.set(file, [...(found.get(file) ?? []), finding]);
  }
  return found;
}

function execute(args: string[]): Promise<Violation[]> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      // The exit code is 1 when it found something, too.
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`squawk failed: ${stderr || error?.message}`));
      }
    });
  });
}
