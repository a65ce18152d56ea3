import type { Statement } from './statements.ts';

/*
 * What squawk has no rule for. Each of them is about the release before, which runs on during and after the migration, or about
 * locks that last as long as a table is large.
 */

/** A migration file. */
interface MigrationFile {
  statements: Statement[];
  isOutsideTransaction: boolean;
}

/** Something that a migration must not do without a reason. */
export interface Finding {
  rule: string;
  /** Of the file, from 1. */
  line: number;
  message: string;
}

interface Rule {
  name: string;
  message: string;
  /** Whether a statement breaks the rule. */
  isBroken(statement: Statement, file: MigrationFile): boolean;
}

/** What may stand outside a transaction, where a run may be interrupted. */
const outside = [
  /^DO \$\$/,
  /^(CREATE (UNIQUE )?|DROP )INDEX CONCURRENTLY /,
  /^ALTER TABLE \S+ VALIDATE CONSTRAINT [^,]+$/,
];
const definesObjects = /\b(ALTER|CREATE|DROP|TRUNCATE|LOCK|REINDEX|CLUSTER) /;
const changesRows = /\b(UPDATE|DELETE FROM|MERGE INTO|INSERT INTO)\b/;
const dropped =
  /^DROP (FUNCTION|PROCEDURE|AGGREGATE|TRIGGER|VIEW|MATERIALIZED VIEW|TYPE|DOMAIN|SEQUENCE|SCHEMA|EXTENSION|INDEX|RULE|POLICY) /;

const rules: Rule[] = [
  {
    name: 'drop-used',
    message:
      'The release before may use what this drops. Stop using it in one release and drop it in the next.',
    isBroken: (statement, file) =>
      (dropped.test(statement.text) && !isCreatedAgain(statement, file)) ||
      /^ALTER TABLE .*\bDROP CONSTRAINT /.test(statement.text),
  },
  {
    name: 'rename-used',
    message:
      'The release before uses the old name. Add the new one beside it, and drop the old one in the next release.',
    isBroken: ({ text }) =>
      /^ALTER .*\bSET SCHEMA /.test(text) || (/^ALTER .*\bRENAME /.test(text) && !isTableRename(text)),
  },
  {
    name: 'drop-default',
    message: 'The release before inserts rows without this column. Drop its default in the next release.',
    isBroken: ({ text }) => /^ALTER TABLE .*\bDROP DEFAULT\b/.test(text),
  },
  {
    name: 'enum-value',
    message:
      'The release before may read rows with the new value. Write "-- Allow enum-value: <reason>" in front, with what it does with them.',
    isBroken: ({ text }) => /^ALTER TYPE .* ADD VALUE /.test(text),
  },
  {
    name: 'long-lock',
    message:
      'This keeps all readers and writers of a table waiting for as long as it takes to read or write all of it.',
    isBroken: ({ text }) =>
      /^(LOCK|CLUSTER|TRUNCATE|VACUUM|REINDEX)\b/.test(text) ||
      /^REFRESH MATERIALIZED VIEW (?!CONCURRENTLY)/.test(text) ||
      /^ALTER TABLE .*\b(SET (UN)?LOGGED|SET TABLESPACE|(ADD|ADD COLUMN) \S+ (SMALL|BIG)?SERIAL)\b/.test(
        text,
      ),
  },
  {
    name: 'second-lock',
    message:
      'This waits for a lock while the migration has that of another table or view, which ends in a deadlock with a query that has them in the other order. Write a migration for each.',
    isBroken: (statement, { statements, isOutsideTransaction }) => {
      const locked = statements.map((other) => exclusivelyLocked(other, statements));
      const own = locked[statements.indexOf(statement)];
      return !isOutsideTransaction && own !== undefined && own !== locked.find(Boolean);
    },
  },
  {
    name: 'returned-table',
    message:
      'When a column is added to the table, calls that wait for it fail. Name the columns: RETURNS TABLE (…).',
    isBroken: ({ text }) =>
      /\bRETURNS SETOF (?!(BIGINT|BOOLEAN|INT|INTEGER|JSONB|RECORD|TEXT|TIMESTAMPTZ|UUID)\b)/.test(text),
  },
  {
    name: 'disabled-trigger',
    message: 'The rows that the release before writes meanwhile would not have what the trigger does.',
    isBroken: ({ text }) => /^ALTER TABLE .*\bDISABLE (TRIGGER|RULE)\b/.test(text),
  },
  {
    name: 'rows-in-transaction',
    message:
      'This locks all rows that it changes until the migration ends. Begin with "-- Outside a transaction" and commit after each row.',
    isBroken: (statement, file) => !file.isOutsideTransaction && changesExistingRows(statement, file),
  },
  {
    name: 'own-timeouts',
    message:
      'The runner sets the timeouts; another one would keep requests waiting for longer than they wait.',
    isBroken: ({ text, body }) =>
      [text, body].some((one) => /\bSET (LOCAL |SESSION )?(LOCK|STATEMENT)_TIMEOUT\b/.test(one)),
  },
  {
    name: 'outside-transaction',
    message:
      'Outside a transaction ("-- Outside a transaction" in the first line) is one statement: a DO block that changes rows and commits as it goes, an index CONCURRENTLY, or VALIDATE CONSTRAINT. Nothing of it can run inside one.',
    isBroken: (statement, { statements, isOutsideTransaction }) =>
      isOutsideTransaction
        ? statements.length > 1 ||
          !outside.some((one) => one.test(statement.text)) ||
          definesObjects.test(statement.body) ||
          (statement.text.startsWith('DO') && !/\bCOMMIT\b/.test(statement.body))
        : /\bCONCURRENTLY\b/.test(statement.text),
  },
  {
    name: 'repeatable',
    message:
      'An interrupted run repeats it: IF NOT EXISTS or IF EXISTS for an index; for a DO block a comment "-- Repeatable: ..." that says why it does no harm.',
    isBroken: (statement, file) => file.isOutsideTransaction && !isRepeatable(statement),
  },
  {
    name: 'unexplained',
    message: 'Write "-- Allow <rule>: <reason>" in front of the statement in place of squawk-ignore.',
    isBroken: ({ comments }) => comments.some((comment) => comment.includes('squawk-ignore')),
  },
];

/** Names of the rules. */
export const ruleNames = rules.map(({ name }) => name);

/** What breaks the rules. */
export function findBrokenRules(file: MigrationFile): Finding[] {
  return file.statements.flatMap((statement) =>
    rules
      .filter(({ isBroken }) => isBroken(statement, file))
      .map(({ name, message }) => ({ rule: name, line: statement.lines.first, message })),
  );
}

/** The existing table or view that no query can use until the transaction of a statement ends. */
function exclusivelyLocked({ text }: Statement, statements: Statement[]): string | undefined {
  const name =
    /^(?:ALTER TABLE(?: IF EXISTS)?(?: ONLY)?|CREATE OR REPLACE VIEW|DROP (?:TABLE|VIEW)(?: IF EXISTS)?) ([^\s;]+)/.exec(
      text,
    )?.[1];
  const isNew = statements.some((other) => other.text.startsWith(`CREATE TABLE ${name} `));
  return isNew ? undefined : name;
}

/** squawk has rules for these. */
function isTableRename(text: string): boolean {
  return /^ALTER TABLE .*\bRENAME /.test(text) && !/\bRENAME CONSTRAINT /.test(text);
}

/** A trigger that is replaced in the same transaction is there for everybody else all the time. */
function isCreatedAgain({ text }: Statement, { statements, isOutsideTransaction }: MigrationFile): boolean {
  const name = /^DROP TRIGGER (?:IF EXISTS )?(\S+)/.exec(text)?.[1];
  if (name === undefined || isOutsideTransaction) return false;
  return statements.some(
    (other) => other.text.includes(`TRIGGER ${name} `) && other.text.startsWith('CREATE'),
  );
}

function isRepeatable({ text, comments }: Statement): boolean {
  if (text.startsWith('DO')) return comments.some((comment) => /^-- Repeatable: \S.{15,}/.test(comment));
  return /^ALTER TABLE/.test(text) || /^CREATE .* IF NOT EXISTS |^DROP .* IF EXISTS /.test(text);
}

/** Rows of a table that the same migration creates are its own; so are those of INSERT ... VALUES. */
function changesExistingRows({ text, body }: Statement, { statements }: MigrationFile): boolean {
  if (text.startsWith('DO')) return changesRows.test(body);
  if (!/^(UPDATE|DELETE|MERGE|INSERT|WITH)\b/.test(text) || !changesRows.test(text)) return false;
  if (/^INSERT INTO [^;]*\bVALUES\b/.test(text) && !/\bON CONFLICT\b.*\bUPDATE\b/.test(text)) return false;
  const table = /\b(?:UPDATE(?: ONLY)?|DELETE FROM|MERGE INTO|INSERT INTO) (\S+)/.exec(text)?.[1];
  return !statements.some(
    (other) => /^CREATE TABLE (?:IF NOT EXISTS )?(\S+)/.exec(other.text)?.[1] === table,
  );
}
