import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { pino } from 'pino';
import { format } from 'sql-formatter';
import t, { type Test } from 'tap';
import type tsApi from '../../packages/client/node_modules/typescript/lib/typescript.js';
import { createSessionRepository } from '../../src/domains/auth/sessions/repository.ts';
import { createImageRepository } from '../../src/domains/images/repository.ts';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { secondsUntilEdits } from '../../src/domains/stores/index.ts';
import { rememberHere } from '../../src/infrastructure/database/own-writes.ts';
import { openReplica } from '../../src/infrastructure/database/replica.ts';
import { empty } from '../../src/infrastructure/database/sql.ts';
import { listJobs, recoverJobs, unlockJobs } from '../../src/infrastructure/jobs/jobs.ts';
import { moveExhaustedMails } from '../../src/infrastructure/mail/queue.ts';
import { createMetrics } from '../../src/infrastructure/telemetry/metrics.ts';
import { secondFactorOf } from '../auth/authenticator.ts';
import { developmentLogin } from '../auth/development-login.ts';
import { newResetLink, verifyLinkTokenIn } from '../auth/mailbox.ts';
import { passkeysOf } from '../auth/passkeys.ts';
import { pushesOf } from '../push/subscribed.ts';
import { addFailedMail, createAdmin, sendReport } from '../support/admin.ts';
import { codeIn, createTestApp, deleteAccount, logIn, verifyEmails } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { root } from '../support/files.ts';
import { cleanUp, uploadImage } from '../support/images.ts';
import { notificationsOf, requestsPath, sendRequest, transition } from '../support/partner-requests.ts';
import { idleOutbox } from '../support/plans.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';

/*
 * The compiler believes the row types that statements of SQL are given. Here they are compared with the columns that
 * PostgreSQL returns: each call of `query<Row>` with the statement that it ran, by its place in the source.
 */

// The compiler of the repository has no API for programs.
const ts: typeof tsApi = createRequire(`${root}/packages/client/package.json`)('typescript');

interface Column {
  kinds: Set<string>;
  literals: Set<string>;
  isNullable: boolean;
}
type Columns = Map<string, Column>;

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

/** Packages whose types no row type has. */
const others = /\/node_modules\/(?!typescript\/|@types\/pg\/|@prisma\/|@sinclair\/)/;

/** The declared columns by the place of the call, such as `src/domains/posts/repository.ts:73`. */
function readDeclarations(): Map<string, Columns> {
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
    const isMethod =
      ts.isPropertyAccessExpression(callee) &&
      // Unlike the connections of `pg`.
      checker.getTypeAtLocation(callee.expression).getProperty('connect') === undefined;
    const name = ts.isPropertyAccessExpression(callee) ? callee.name : callee;
    const line = file.getLineAndCharacterOfPosition(name.getStart()).line + 1;
    const place = `${relative(root, file.fileName)}:${line}`;
    const isQuery = isMethod && name.getText() === 'query' && rowType !== undefined;
    const isList = name.getText() === 'findPage' && rowType !== undefined;
    if (isQuery || isList || (isMethod && name.getText() === 'execute'))
      functions.set(place, enclosingFunction(node));
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
  return found;
}

/** Whose statement is that of its callers. */
const search = 'src/infrastructure/search/page.ts';
/** The name of the function of each call. */
const functions = new Map<string, string>();
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

/** Compares the statements that ran with the files, or writes them, with `UPDATE_QUERIES`. */
async function compareQueries(t: Test, places: Map<string, string>): Promise<void> {
  const ofDomain = new Map<string, string[]>();
  for (const [text, place] of places) {
    const [, domain, path] = /^src\/domains\/([\w-]+)\/(.+)\.ts:/.exec(place) ?? [];
    if (domain === undefined) continue;
    const columns = [...(declarations.get(place)?.keys() ?? [])].sort().join(', ');
    const statement = format(text, { language: 'postgresql', expressionWidth: 100 });
    const query = `-- ${path}: ${functions.get(place)}\n${columns && `-- Columns: ${columns}\n`}${statement};\n`;
    ofDomain.set(domain, [...(ofDomain.get(domain) ?? []), query]);
  }
  for (const [domain, queries] of ofDomain) {
    const file = join(root, `prisma/queries/${domain}.sql`);
    const content = [...new Set(queries)].sort().join('\n');
    if (process.env['UPDATE_QUERIES']) await writeFile(file, content);
    t.equal(
      content,
      await readFile(file, 'utf8').catch(() => ''),
      `${domain}: update it with UPDATE_QUERIES=1`,
    );
  }
}

t.test('each statement returns the columns that its row type declares', async (t) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  t.teardown(() => (Error.stackTraceLimit = stackTraceLimit));
  // The text of a statement is asked for at its place, also where Prisma sends it later.
  const places = new Map<string, string>();
  const prototypeOfSql = Object.getPrototypeOf(empty);
  const property = Object.getOwnPropertyDescriptor(prototypeOfSql, 'text');
  t.teardown(() => Object.defineProperty(prototypeOfSql, 'text', { ...property }));
  Object.defineProperty(prototypeOfSql, 'text', {
    configurable: true,
    get() {
      const text: string = property?.get?.call(this);
      const frames = new Error().stack?.match(/src\/[\w/.-]+\.ts:\d+/g) ?? [];
      const place = frames.find((frame) => functions.has(frame) && !frame.startsWith(search));
      if (place !== undefined) places.set(text, place);
      return text;
    },
  });
  for (const prototype of [pg.Pool.prototype, pg.Client.prototype]) {
    const { query } = prototype;
    t.teardown(() => Object.assign(prototype, { query }));
    // `t.capture` would take a stack trace at each call.
    const read = function (this: unknown, ...args: [{ text?: string }]) {
      const result: unknown = Reflect.apply(query, this, args);
      const place = places.get(args[0].text ?? '');
      if (place !== undefined && result instanceof Promise)
        result.then(
          (response: pg.QueryResult) => compare(place, response),
          () => undefined,
        );
      return result;
    };
    Object.assign(prototype, { query: read });
  }

  const app = await createTestApp({ DATA_DIR: t.testdir() });
  const [sender, receiver] = [await openShop(app, '빵집'), await openShop(app, '카페')];
  const admin = await createAdmin(app);
  const headers = { 'idempotency-key': 'row-types' };
  const send = (method: string, path: string, body?: object, { token }: { token: string } = receiver) =>
    app.call(method, path, { token, body, headers });
  const image = await uploadImage(app, receiver.token);
  const own = await createPost(app, receiver.token, { images: [image.url] });
  await send('POST', '/api/v1/posts/', { title: '글', content: '내용' }, admin);
  for (const _ of ['first', 'replay'])
    await send('POST', '/api/v1/stores/', { name: '가게', category_ids: [1] }, admin);
  for (const { email } of [receiver, sender]) {
    await send('POST', '/auth/email-verify/send/', { email });
    const mail = await app.mails.next(email);
    const proof =
      email === receiver.email ? { email, code: codeIn(mail) } : { token: verifyLinkTokenIn(mail) };
    await send('POST', '/auth/email-verify/confirm/', proof);
  }
  await send('PATCH', '/api/v1/notifications/preferences/', { email: { saved_search_match: true } }, sender);
  await send('POST', '/api/v1/saved-searches/', { name: '카페', category_id: 1 }, sender);
  await verifyEmails(app, sender);
  await createPost(app, receiver.token);
  await (await pushesOf(t, app)).subscribe(sender);
  await send('PATCH', '/auth/me/consents/', { marketing: true }, sender);
  await send('GET', '/auth/me/consents/', undefined, sender);
  for (let count = 0; count < 6; count++) await send('GET', '/auth/me/data/');
  await app.mails.next(sender.email, 1); // About the match, after the code.
  const id = await sendRequest(app, sender, own);
  await send('POST', requestsPath, { post_id: own.id, message: '다시' }, sender);
  await transition(app, receiver, id, 'accept');
  for (const path of [
    ...['', '?box=sent', '?status=수락됨', `${id}/`].map((query) => encodeURI(requestsPath + query)),
    ...['partners/', 'mypage/', 'me/', `${sender.store.id}/`, ''].map((rest) => `/api/v1/stores/${rest}`),
    ...['', `${own.id}/`, '?q=%EA%B8%80', '?category_id=1'].map((rest) => `/api/v1/posts/${rest}`),
    ...['unread-count/', 'preferences/'].map((rest) => `/api/v1/notifications/${rest}`),
    ...['/auth/me/', '/auth/sessions/'],
  ])
    t.equal((await send('GET', path)).status, 200, path);
  await send('GET', `${requestsPath}?box=sent`, undefined, sender);
  const [{ id: newest }] = (await notificationsOf(app, receiver)).items;
  await send('POST', '/api/v1/notifications/mark-read/', { up_to_id: newest });
  await send('PATCH', '/api/v1/notifications/preferences/', { language: 'en' });
  await send('PATCH', `/api/v1/posts/${own.id}/`, { title: '새' });
  await send('PATCH', '/api/v1/stores/me/', { name: '새 카페' });
  await sendReport(app, sender, 'posts', own.id);
  await send('PATCH', '/auth/me/consents/', { marketing: true }, sender);
  await app.pool.query(
    `INSERT INTO consents (user_id, kind, action, created_at)
     VALUES ($1, 'marketing', 'asked', now() - interval '2 years')`,
    [sender.id],
  );
  for (let download = 0; download < 6; download++) await send('GET', '/auth/me/data/', undefined, sender);
  const mail = await addFailedMail(app, sender);
  await send('POST', `/api/v1/admin/failed-mails/${mail}/retry/`, undefined, admin);
  const { finishLogin, firstFactor, confirmUser, switchOn } = secondFactorOf(app);
  const { code, recoveryCodes } = await switchOn(admin);
  await finishLogin(await firstFactor(admin), recoveryCodes[0] ?? '');
  await confirmUser(admin.token, { code: code() });
  const { finish } = await developmentLogin(
    app,
    { subject: 'row-types' },
    { purpose: 'link', token: sender.token },
  );
  t.equal((await finish()).status, 201);
  await send('GET', '/auth/identities/', undefined, sender);
  await app.app.inject('/metrics');
  const { refresh } = await logIn(app, sender);
  await send('POST', '/auth/token/refresh/', { refresh });
  const { username, password } = receiver;
  await send('POST', '/auth/login/', { username, password: `${password}?` });
  await send('POST', '/auth/change-email/', { password, new_email: 'new@example.com', code: '000000' });
  const link = await newResetLink(app, sender.email);
  await send('POST', '/auth/reset-password-confirm/', { ...link, new_password: `${password}!` });
  const passkeys = passkeysOf(app);
  const passkey = await passkeys.createOwner();
  await passkeys.logIn(passkey.authenticator);
  await passkeys.remove(passkey.token, passkey.passkey.id);
  await deleteAccount(app, receiver);

  // What runs by itself, or for the command.
  const database = openTestDatabase(t, app.url);
  const images = createImageRepository(database);
  await createSessionRepository(database, app.config.tokens).findLive([randomUUID()]);
  await createNotificationRepository(database, idleOutbox).listAfter(sender.id, 0, 10);
  await app.pool.query(`INSERT INTO images (user_id, key, state, check_after)
    SELECT ${sender.id}, 'used-' || n, 'erased', now() FROM generate_series(1, 200) n`);
  await images.insertPending(sender.id, 'rejected');
  await app.pool.query(`UPDATE users SET marketing_asked_at = '2020-01-01' WHERE id = ${sender.id}`);
  await cleanUp(app);
  await secondsUntilEdits(database, sender.id);
  await listJobs(database, { failed: false, locked: false, limit: 10 });
  await unlockJobs(database, {});
  const parts = { primary: database, ownWrites: rememberHere(), logger: pino({ enabled: false }) };
  const replica = openReplica({ url: app.url, poolSize: 1, ...parts, metrics: createMetrics() });
  t.teardown(replica.close);
  void replica.watch();
  await until('the checks', () => [...executed].filter((place) => /replica/.test(place)).length === 2);
  await moveExhaustedMails(database);
  await recoverJobs({ database, lanes: [], logger: pino({ enabled: false }), lockAge: 60_000 });
  t.strictSame([...problems], []);
  await t.test('prisma/queries has each statement of the domains as it is sent', (t) =>
    compareQueries(t, places),
  );
  t.strictSame([...executed].sort(), [...declarations.keys()].sort(), 'every row type is compared');
});
