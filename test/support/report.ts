import process from 'node:process';
import { Parser, type Result } from 'tap-parser';
import { cpuSeconds } from './time.ts';

/** What a test file printed. */
export interface FileReport {
  file: string;
  passed: number;
  skipped: number;
  /** Assertions that failed, and what ended the process. */
  failures: { name: string; text: string }[];
  /** What else it wrote. */
  output: string;
  /** Of CPU. */
  seconds: number;
}

/**
 * Reads the TAP of a process that runs test files one after the other, as `group.ts` does.
 *
 * @param onFile called when a file has ended
 */
export function readReports(onFile: (report: FileReport) => void) {
  let report: FileReport = startReport('');
  const root = new Parser();
  root.on('extra', (text: string) => (report.output += text));
  root.on('comment', (text: string) => {
    report.seconds = Number(/^# (\S+) s of CPU/.exec(text)?.[1] ?? report.seconds);
  });
  follow(root, []);

  function endFile(): void {
    if (report.file !== '' || report.failures.length > 0) onFile(report);
  }

  function follow(parser: Parser, names: string[]): void {
    let child: Parser | undefined;
    parser.on('child', (test: Parser) => {
      child = test;
      if (parser === root && test.name.endsWith('.test.js')) {
        endFile();
        report = startReport(test.name);
      }
      follow(test, [...names, test.name]);
    });
    parser.on('assert', (result: Result) => {
      // The result of a test that has assertions says nothing new, unless an exception or the time ended it.
      if (result.closingTestPoint && (result.ok || child?.fail !== 0)) return;
      if (result.skip) report.skipped++;
      else if (result.ok || result.todo) report.passed++;
      else report.failures.push({ name: [...names, result.name].join(' > '), text: describe(result) });
    });
  }

  return {
    write: (chunk: Buffer) => root.write(chunk),
    writeError: (chunk: Buffer) => (report.output += chunk.toString()),
    /** @param problem why the process ended, unless it ended by itself */
    end(problem?: string) {
      if (problem !== undefined) report.failures.push({ name: 'the process', text: problem });
      root.end();
      endFile();
    },
  };
}

const nothing = { passed: 0, skipped: 0, output: '', seconds: 0 };
export const startReport = (file: string): FileReport => ({ file, ...nothing, failures: [] });

const nameOf = ({ file }: FileReport) => file.replace(/^build\//, '').replace(/js$/, 'ts');
const print = (...lines: string[]) => process.stdout.write(`${lines.join('\n')}\n`);
const indent = (text: string) => text.replaceAll(/^/gm, '    ');

/** Prints a line for a file, and its failures. */
export function printReport(report: FileReport): void {
  const { passed, skipped, failures, output, seconds } = report;
  const counts = `${passed} passed${skipped ? `, ${skipped} skipped` : ''}`;
  print(`${failures.length ? 'FAILED' : 'ok'}  ${nameOf(report)}  ${counts}, ${seconds.toFixed(1)} s of CPU`);
  if (failures.length === 0) return;
  for (const failure of failures) print(indent(describeFailure(failure)), '');
  // What ended a process is at the end.
  if (output.trim() !== '') print(indent(output.trim().split('\n').slice(-40).join('\n')), '');
}

/** Prints where the time went, every failure again, and the numbers of assertions. */
export function printSummary(reports: FileReport[]): void {
  const slowest = reports.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10);
  const costs = slowest.map((report) => `  ${report.seconds.toFixed(1)} s  ${nameOf(report)}`);
  print('', 'Most CPU:', ...costs);
  print(`${(performance.now() / 1_000).toFixed(0)} s, ${cpuSeconds().toFixed(0)} s of CPU`, '');
  for (const report of reports)
    for (const failure of report.failures) print(`${nameOf(report)}: ${describeFailure(failure)}`, '');
  const sum = (count: (report: FileReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  print(
    `${sum(({ passed }) => passed)} passed, ${sum(({ failures }) => failures.length)} failed, ${sum(({ skipped }) => skipped)} skipped`,
  );
}

const describeFailure = ({ name, text }: FileReport['failures'][number]) => `${name}\n${indent(text)}`;

/** Where the assertion is, and how the values differ. */
function describe({ diag }: Result): string {
  const { at, diff, ...others } = diag ?? {};
  const place = at?.fileName ? [`at ${at.fileName}:${at.lineNumber}`] : [];
  const rest = Object.entries(others)
    .filter(([name]) => !['source', 'compare'].includes(name) && !(at && name === 'stack'))
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [...place, ...(diff ? [diff.trimEnd()] : rest)].join('\n');
}
