import { readFile } from 'node:fs/promises';
import { type Finding, findBrokenRules, ruleNames } from './rules.ts';
import { runSquawk } from './squawk.ts';
import { type Statement, splitStatements } from './statements.ts';

interface Migration {
  path: string;
  statements: Statement[];
  isOutsideTransaction: boolean;
}

/** In front of a statement that breaks a rule for a reason. */
const exception = /^-- Allow ([a-z-]+): (\S.{15,})$/;

/** Checks migrations with squawk and with the rules of the project. @returns one line for each problem */
export async function checkMigrations(paths: string[]): Promise<string[]> {
  const migrations = await Promise.all(paths.map(read));
  const byMode = await Promise.all(
    [true, false].map((isOutsideTransaction) => {
      const some = migrations.filter((one) => one.isOutsideTransaction === isOutsideTransaction);
      return runSquawk(
        some.map(({ path }) => path),
        { isOutsideTransaction },
      );
    }),
  );
  return migrations.flatMap((migration) => {
    const { path, statements } = migration;
    const findings = [...byMode.flatMap((found) => found.get(path) ?? []), ...findBrokenRules(migration)];
    return [...unexplained(findings, statements), ...useless(findings, statements)]
      .sort((a, b) => a.line - b.line)
      .map(({ rule, line, message }) => `${path}:${line} ${rule}: ${message}`);
  });
}

async function read(path: string): Promise<Migration> {
  const sql = await readFile(path, 'utf8');
  return {
    path,
    statements: splitStatements(sql),
    isOutsideTransaction: sql.startsWith('-- Outside a transaction'),
  };
}

/** The statement that a line belongs to. */
function statementAt(statements: Statement[], line: number): Statement | undefined {
  return statements.find(({ lines }) => lines.start <= line && line <= lines.last);
}

/** Rules that a statement may break, with the reason. */
function exceptionsOf(statement: Statement | undefined): string[] {
  return (statement?.comments ?? []).flatMap((comment) => exception.exec(comment)?.[1] ?? []);
}

function unexplained(findings: Finding[], statements: Statement[]): Finding[] {
  return findings.filter(
    ({ rule, line }) => !exceptionsOf(statementAt(statements, line)).includes(rule) || rule === 'unexplained',
  );
}

/** Exceptions from rules that the statement does not break: it was changed since, or the name is wrong. */
function useless(findings: Finding[], statements: Statement[]): Finding[] {
  return statements.flatMap((statement) =>
    exceptionsOf(statement)
      .filter(
        (rule) =>
          !findings.some((one) => one.rule === rule && statementAt(statements, one.line) === statement),
      )
      .map((rule) => ({
        rule: 'useless-exception',
        line: statement.lines.start,
        message: `The statement does not break ${rule}. Rules beside those of squawk: ${ruleNames.join(', ')}.`,
      })),
  );
}
