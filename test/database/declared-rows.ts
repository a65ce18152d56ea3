import { createRequire } from 'node:module';
import { relative } from 'node:path';
import pg from 'pg';
import type tsApi from '../../packages/client/node_modules/typescript/lib/typescript.js';
import { root } from '../support/files.ts';

// The compiler of the repository has no API for programs.
const ts: typeof tsApi = createRequire(`${root}/packages/client/package.json`)('typescript');

interface Column {
  kinds: Set<string>;
  literals: Set<string>;
  isNullable: boolean;
}
type Columns = Map<string, Column>;

/** Packages whose types no row type has. */
const others = /\/node_modules\/(?!typescript\/|@types\/pg\/|@prisma\/|@sinclair\/)/;

/** Whose statement is that of its callers. */
export const search = 'src/infrastructure/search/page.ts';

/**
 * Reads the source for the calls that run SQL, by their place, such as `src/domains/posts/repository.ts:73`: the names of their
 * functions, and the columns of their row types.
 */
function readDeclarations() {
  const functions = new Map<string, string>();
  const config = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config;
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  // Comments and what no row type is made of would take half of the time.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const { getSourceFile } = host;
  host.getSourceFile = (file, ...rest) =>
    others.test(file) ? undefined : getSourceFile.call(host, file, ...rest);
  const program = ts.createProgram(fileNames, { ...options, noEmit: true }, host);
  const checker = program.getTypeChecker();
  const found = new Map<string, Columns>();
  let ofSearch: Columns = new Map();

  function columnsOf(type: tsApi.Type): Columns {
    const columns: Columns = new Map();
    const members = type.isUnion() ? type.types : [type];
    const names = members.flatMap((member) => checker.getPropertiesOfType(member).map(({ name }) => name));
    for (const name of names) {
      const column: Column = { kinds: new Set(), literals: new Set(), isNullable: false };
      for (const member of members) {
        const property = checker.getPropertyOfType(member, name);
        const declared = property && checker.getTypeOfSymbol(property);
        for (const one of declared?.isUnion() ? declared.types : [declared]) {
          if (one === undefined || one.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined))
            column.isNullable = true;
          else column.kinds.add(kind(one));
          if (one?.isStringLiteral()) column.literals.add(one.value);
        }
      }
      columns.set(name, column);
    }
    return columns;
  }

  function kind(type: tsApi.Type): string {
    if (type.flags & ts.TypeFlags.StringLike) return 'string';
    if (type.flags & ts.TypeFlags.NumberLike) return 'number';
    if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
    if (checker.isArrayType(type)) return 'array';
    return type.symbol?.name === 'Date' ? 'Date' : 'object';
  }

  function enclosingFunction(node: tsApi.Node): string {
    const { parent } = node;
    if ((ts.isFunctionDeclaration(parent) || ts.isMethodDeclaration(parent)) && parent.name !== undefined)
      return parent.name.getText();
    // A function that is named by its variable.
    if (ts.isVariableDeclaration(parent) && ts.isSourceFile(parent.parent.parent.parent))
      return parent.name.getText();
    return ts.isSourceFile(parent) ? '' : enclosingFunction(parent);
  }

  function visit(node: tsApi.Node, file: tsApi.SourceFile): void {
    ts.forEachChild(node, (child) => visit(child, file));
    if (!ts.isCallExpression(node)) return;
    const { expression: callee, typeArguments: [rowType] = [] } = node;
    const method = ts.isPropertyAccessExpression(callee) ? callee : undefined;
    const called = method?.name ?? callee;
    const name = called.getText();
    // Before anything is asked of the types, which takes most of the time.
    if (!['query', 'execute', 'findPage'].includes(name)) return;
    const isMethod =
      method !== undefined &&
      // Unlike the connections of `pg`.
      checker.getTypeAtLocation(method.expression).getProperty('connect') === undefined;
    const line = file.getLineAndCharacterOfPosition(called.getStart()).line + 1;
    const place = `${relative(root, file.fileName)}:${line}`;
    const isQuery = isMethod && name === 'query' && rowType !== undefined;
    const isList = name === 'findPage' && rowType !== undefined;
    if (isQuery || isList || (isMethod && name === 'execute')) functions.set(place, enclosingFunction(node));
    if (!isQuery && !isList) return;
    const columns = columnsOf(checker.getTypeFromTypeNode(rowType));
    // The statement of all searches, whose row type is that of its caller and these columns.
    if (place.startsWith(search)) ofSearch = columns;
    else found.set(place, columns);
    if (!isQuery) searches.push(columns);
  }
  const searches: Columns[] = [];
  for (const file of program.getSourceFiles())
    if (fileNames.includes(file.fileName) && !file.fileName.includes('/generated/')) visit(file, file);
  for (const columns of searches)
    for (const [name, column] of ofSearch) if (!columns.has(name)) columns.set(name, column);
  return { functions, declarations: found };
}

const { builtins } = pg.types;
/** Columns of functions that are called for what they do. */
const effects = ['case', 'force_unlock_workers'];
const arrays = [1005, 1007, 1009, 1015, 1016, 1022];
const kindOf: Record<number, string[]> = {
  ...Object.fromEntries(arrays.map((oid) => [oid, ['array']])),
  [builtins.BOOL]: ['boolean'],
  ...Object.fromEntries(
    [builtins.INT2, builtins.INT4, builtins.INT8, builtins.FLOAT8].map((oid) => [oid, ['number']]),
  ),
  [builtins.TIMESTAMPTZ]: ['Date'],
  [builtins.JSON]: ['object', 'array'],
  [builtins.JSONB]: ['object', 'array'],
  [builtins.BYTEA]: ['object'],
};

/** Compares the columns that PostgreSQL returns with the row types that the compiler believes. */
export function compareRowTypes() {
  const { functions, declarations } = readDeclarations();
  const executed = new Set<string>();
  const problems = new Set<string>();

  /** @param place of the call */
  function compare(place: string, { fields, rows }: pg.QueryResult): void {
    const declared = declarations.get(place);
    if (declared === undefined) return;
    executed.add(place);
    const returned = new Set(fields.map(({ name }) => name));
    for (const name of declared.keys()) if (!returned.has(name)) problems.add(`${place}: no column ${name}`);
    for (const { name, dataTypeID } of fields) {
      const column = declared.get(name);
      const possible = kindOf[dataTypeID] ?? ['string'];
      if (column === undefined && effects.includes(name)) continue;
      if (column === undefined) problems.add(`${place}: ${name} is not declared`);
      else if (column.kinds.size > 0 && !possible.some((kind) => column.kinds.has(kind)))
        problems.add(`${place}: ${name} is ${possible.join(' or ')}, not ${[...column.kinds].join(' or ')}`);
      for (const row of rows) {
        // Those of Prisma are arrays.
        const values = Array.isArray(row)
          ? Object.fromEntries(fields.map((field, at) => [field.name, row[at]]))
          : row;
        const value: unknown = values[name];
        // A row without an id is that of an empty page.
        if (value === null && column?.isNullable === false && values.id !== null)
          problems.add(`${place}: ${name} is null`);
        if (typeof value === 'string' && column?.literals.size && !column.literals.has(value))
          problems.add(`${place}: ${name} is ${value}`);
      }
    }
  }

  return { functions, declarations, executed, problems, compare };
}
