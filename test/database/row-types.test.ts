import { createRequire } from 'node:module';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import t from 'tap';
import type tsApi from '../../packages/client/node_modules/typescript/lib/typescript.js';
import { addFailedMail, createAdmin, sendReport } from '../support/admin.ts';
import { codeIn, createTestApp, deleteAccount, logIn, verifyEmails } from '../support/app.ts';
import { uploadImage } from '../support/images.ts';
import { notificationsOf, requestsPath, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

/*
 * The compiler believes the row types that statements of SQL are given. Here they are compared with the columns that
 * PostgreSQL returns: each call of `query<Row>` with the statement that it ran, by its place in the source.
 */

// The compiler of the repository has no API for programs.
const root = fileURLToPath(new URL('.', import.meta.resolve('#package/package.json')));
const ts: typeof tsApi = createRequire(`${root}packages/client/package.json`)('typescript');

interface Column {
  kinds: Set<string>;
  literals: Set<string>;
  isNullable: boolean;
}
type Columns = Map<string, Column>;

const { builtins } = pg.types;
/** Columns of functions that are called for what they do. */
const effects = ['case', 'force_unlock_workers'];
const arrays = [1005, 1007, 1009, 1015, 1016];
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

/** The declared columns by the place of the call, such as `src/domains/posts/repository.ts:73`. */
function readDeclarations(): Map<string, Columns> {
  const config = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config;
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, root);
  const program = ts.createProgram(fileNames, { ...options, noEmit: true });
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

  function visit(node: tsApi.Node, file: tsApi.SourceFile): void {
    ts.forEachChild(node, (child) => visit(child, file));
    if (!ts.isCallExpression(node) || node.typeArguments?.[0] === undefined) return;
    const { expression: callee } = node;
    const isQuery =
      ts.isPropertyAccessExpression(callee) &&
      callee.name.text === 'query' &&
      checker.getTypeAtLocation(callee.expression).getProperty('execute') !== undefined;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    if (!isQuery && name.getText() !== 'findPage') return;
    const line = file.getLineAndCharacterOfPosition(name.getStart()).line + 1;
    const columns = columnsOf(checker.getTypeFromTypeNode(node.typeArguments[0]));
    const place = `${relative(root, file.fileName)}:${line}`;
    // The statement of all searches, whose row type is that of its caller and these columns.
    if (place.startsWith('src/infrastructure/database/search.ts')) ofSearch = columns;
    else found.set(place, columns);
    if (!isQuery) searches.push(columns);
  }
  const searches: Columns[] = [];
  for (const file of program.getSourceFiles())
    if (fileNames.includes(file.fileName) && !file.fileName.includes('/generated/')) visit(file, file);
  for (const columns of searches)
    for (const [name, column] of ofSearch) if (!columns.has(name)) columns.set(name, column);
  return found;
}

const declarations = readDeclarations();
const executed = new Set<string>();
const problems = new Set<string>();

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
      const value: unknown = row[name];
      // A row without an id is that of an empty page.
      if (value === null && column?.isNullable === false && row.id !== null)
        problems.add(`${place}: ${name} is null`);
      if (typeof value === 'string' && column?.literals.size && !column.literals.has(value))
        problems.add(`${place}: ${name} is ${value}`);
    }
  }
}

t.test('each statement returns the columns that its row type declares', async (t) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  t.teardown(() => (Error.stackTraceLimit = stackTraceLimit));
  for (const prototype of [pg.Pool.prototype, pg.Client.prototype]) {
    const { query } = prototype;
    t.capture(prototype, 'query', function (this: unknown, ...args: unknown[]) {
      const frames = new Error().stack?.match(/src\/[\w/.-]+\.ts:\d+/g) ?? [];
      const place = frames.find((frame) => declarations.has(frame));
      const result: unknown = Reflect.apply(query, this, args);
      if (place !== undefined && result instanceof Promise)
        result.then(
          (response: pg.QueryResult) => compare(place, response),
          () => undefined,
        );
      return result;
    });
  }

  const app = await createTestApp({ DATA_DIR: t.testdir() });
  t.teardown(app.close);
  const { call } = app;
  const [sender, receiver] = [await openShop(app, '빵집'), await openShop(app, '카페')];
  const admin = await createAdmin(app);
  const get = async (path: string, { token }: { token: string } = receiver) => {
    const response = await call('GET', path, { token });
    t.equal(response.status, 200, `${path}: ${response.text}`);
  };
  const post = async (
    path: string,
    body: unknown,
    { token }: { token: string } = receiver,
    method = 'POST',
    headers = {},
  ) => {
    const response = await call(method, path, { token, body, headers });
    t.ok(response.status < 500, `${path}: ${response.text}`);
    return response;
  };
  const image = await uploadImage(app, receiver.token);
  const own = await createPost(app, receiver.token, { images: [image.url] });
  await post('/auth/email-verify/send/', { email: receiver.email });
  const code = codeIn(await app.mails.next(receiver.email));
  await post('/auth/email-verify/confirm/', { email: receiver.email, code });
  await verifyEmails(app, sender);
  const id = await sendRequest(app, sender, own);
  await post(requestsPath, { post_id: own.id, message: '다시' }, sender);
  for (const query of ['', '?box=sent', '?status=수락됨']) await get(encodeURI(requestsPath + query));
  await get(`${requestsPath}?box=sent`, sender);
  await transition(app, receiver, id, 'accept');
  await get(`${requestsPath}${id}/`);
  for (const path of ['stores/partners/', 'stores/mypage/', 'stores/me/', `stores/${sender.store.id}/`])
    await get(`/api/v1/${path}`);
  for (const path of ['posts/', `posts/${own.id}/`, 'posts/?q=함께', 'posts/?category_id=1', 'stores/'])
    await get(encodeURI(`/api/v1/${path}`));
  await get('/api/v1/notifications/unread-count/');
  await get('/api/v1/notifications/preferences/');
  await post('/api/v1/notifications/mark-read/', {
    up_to_id: (await notificationsOf(app, receiver)).items[0].id,
  });
  await post(`/api/v1/posts/${own.id}/`, { title: '새' }, receiver, 'PATCH');
  await post('/api/v1/stores/me/', { name: '새 카페' }, receiver, 'PATCH');
  await sendReport(app, sender, 'posts', own.id);
  const mail = await addFailedMail(app, sender);
  await post(`/api/v1/admin/failed-mails/${mail}/retry/`, undefined, admin);
  await get('/auth/me/');
  await get('/auth/sessions/');
  await logIn(app, sender);
  await deleteAccount(app, receiver);
  t.strictSame([...problems], []);
  // A transaction of Prisma hides where its statements come from; two more are of the recovery of jobs, which has its own time.
  t.ok(executed.size >= 24, `${executed.size} of ${declarations.size} row types compared`);
});
