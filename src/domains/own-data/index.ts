import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import {
  type CurrentUser,
  currentUser,
  requireUser,
  routesBehind,
  tokenNotValid,
} from '../../http/authentication.ts';
import { httpErrors, retryLater } from '../../http/errors.ts';
import { requestContext } from '../../http/request-context.ts';
import { Ref, RefOrNull, Timestamp } from '../../http/schemas.ts';
import type { ExpiredRows } from '../../infrastructure/database/clean-up.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { secondsUntil } from '../../infrastructure/database/daily-quota.ts';
import { empty, join, raw, type Sql, sql } from '../../infrastructure/database/sql.ts';
import { confirmationErrors } from '../auth/index.ts';
import type { ImageUrls } from '../images/index.ts';
import { type Row, type Section, sections } from './sections.ts';

const downloadsPerDay = 5;
const period = sql`interval '24 hours'`;

/** Counts of downloads whose 24 hours are over. */
export const expiredDataDownloads: ExpiredRows = {
  table: 'data_downloads',
  condition: sql`since < now() - ${period}`,
};

/** Bytes in memory of a download that is not read: a page of rows, and buffers. */
const readAhead = 256 * 1024;

interface Options {
  database: Database;
  imageUrls: ImageUrls;
  /** Of the domain of authentication. @throws {ApiError} `confirmation_required` */
  requireConfirmation(user: CurrentUser): Promise<void>;
}

/** Builds the download of the own data, under `/auth`. */
export function createOwnData(options: Options) {
  return { routes: routesBehind(requireUser, ownDataRoutes, options) };
}

const OwnDataPart = Type.Unsafe<object>({
  $id: 'OwnDataPart',
  type: 'object',
  additionalProperties: true,
  description: 'What one row says, with the names of the API',
  // Specmatic knows no properties of a form in `anyOf` but those that it names.
  examples: [{}],
});
const OwnData = Type.Object(
  {
    exported_at: Timestamp('When the download began'),
    ...Object.fromEntries(
      Object.entries(sections).map(([name, { description, isSingle }]) => [
        name,
        isSingle ? RefOrNull(OwnDataPart, description) : Type.Array(Ref(OwnDataPart), { description }),
      ]),
    ),
  },
  { $id: 'OwnData', description: 'What the service has about a user; parts and their fields may be added' },
);

const ownDataRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  app.get(
    '/me/data/',
    {
      config: { errors: [...confirmationErrors, httpErrors.quotaExceeded], readAhead },
      schema: {
        operationId: 'downloadOwnData',
        summary: 'Download the own data',
        description:
          'Everything that the service has about the user, as one JSON file without the envelope; images are URLs, and secrets are left out. It is written while it is read, so that a change meanwhile may be in one part and not in another. Needs a confirmation; five downloads within 24 hours. A connection that ends before the last brace has not transferred all of it.',
        response: {
          200: {
            description: 'The file',
            content: { 'application/json': { schema: Type.Unsafe<Readable>(Ref(OwnData)) } },
          },
        },
      },
    },
    async (request, reply) => {
      const user = currentUser(request);
      const context = requestContext(request);
      await options.requireConfirmation(user);
      const now = new Date();
      reply.headers({
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': `attachment; filename="dure-data-${now.toISOString().slice(0, 10)}.json"`,
      });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      await countDownload(options.database, user.id);
      context.logSecurityEvent('data_downloaded', user);
      return reply.send(Readable.from(write(options, user.id, now), { objectMode: false }));
    },
  );
};

/** @throws {ApiError} `quota_exceeded`, `token_not_valid` for an account that is gone */
async function countDownload(database: Database, userId: number): Promise<void> {
  const isOver = sql`d.since < now() - ${period}`;
  const counted = await database.execute(sql`
    INSERT INTO data_downloads AS d (user_id) SELECT id FROM users WHERE id = ${userId} FOR KEY SHARE
    ON CONFLICT (user_id) DO UPDATE SET
      since = CASE WHEN ${isOver} THEN now() ELSE d.since END,
      downloads = CASE WHEN ${isOver} THEN 1 ELSE d.downloads + 1 END
    WHERE ${isOver} OR d.downloads < ${downloadsPerDay}`);
  if (counted > 0) return;
  const [row] = await database.query<{ seconds: number }>(sql`
    SELECT ${secondsUntil(sql`(since + ${period})`)} AS seconds FROM data_downloads WHERE user_id = ${userId}`);
  throw row ? retryLater(httpErrors.quotaExceeded, row.seconds) : tokenNotValid('access', 'revoked');
}

/** Writes the file as the client reads it: one page of rows at a time, and no connection to the database between two pages. */
async function* write(options: Options, userId: number, now: Date): AsyncGenerator<string> {
  yield `{\n"exported_at":${JSON.stringify(now)}`;
  for (const [name, section] of Object.entries(sections)) {
    yield `,\n"${name}":${section.isSingle ? '' : '['}`;
    let separator = '';
    for await (const rows of readPages(options, section, userId)) {
      yield separator + rows.map((row) => JSON.stringify(row)).join(',\n');
      separator = ',\n';
    }
    if (section.isSingle) yield separator === '' ? 'null' : '';
    else yield ']';
  }
  yield '\n}\n';
}

/** The rows of a section, by pages that are not empty. */
export async function* readPages(
  { database, imageUrls }: Pick<Options, 'database' | 'imageUrls'>,
  { rows: select, pages, present = (row) => row }: Section,
  userId: number,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined, isFull = true; isFull; ) {
    const rows = await database.query(sql`${select(userId)} ${pages ? page(pages, last) : empty}`);
    if (rows.length > 0) yield rows.map((row) => present(row, imageUrls));
    isFull = rows.length === pages?.size;
    last = rows.at(-1);
  }
}

/** SQL of the page after a row; of the first one without a row. */
function page({ key, size }: NonNullable<Section['pages']>, last: Row | undefined): Sql {
  const columns = raw(key.join(', '));
  const after = last ? sql`AND (${columns}) > (${join(key.map((name) => last[name]))})` : empty;
  return sql`${after} ORDER BY ${columns} LIMIT ${raw(String(size))}`;
}
