import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { type CurrentUser, currentUser } from '../../http/authentication.ts';
import { httpErrors, retryLater } from '../../http/errors.ts';
import { requestContext } from '../../http/request-context.ts';
import type { Routes } from '../../http/route-config.ts';
import { Ref, RefOrNull, Timestamp } from '../../http/schemas.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import { countOfUser } from '../../infrastructure/database/daily-quota.ts';
import { confirmationErrors } from '../auth/index.ts';
import type { ImageUrls } from '../images/index.ts';
import { readPages, sections } from './repository.ts';

/** Bytes in memory of a download that is not read: a page of rows, and buffers. */
const readAhead = 256 * 1024;
const downloadsPerDay = 5;

interface Options {
  database: Database;
  imageUrls: ImageUrls;
  /** Of the domain of authentication. @throws {ApiError} `confirmation_required` */
  requireConfirmation(user: CurrentUser): Promise<void>;
}

/** Builds the download of the own data, under `/auth`. */
export function createOwnData(options: Options) {
  return { routes: async (scope: FastifyInstance) => scope.register(ownDataRoutes, options) };
}

const OwnDataPart = Type.Unsafe<object>({
  $id: 'OwnDataPart',
  type: 'object',
  additionalProperties: true,
  description: 'What one row says, with the names of the API',
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

const ownDataRoutes: Routes<Options> = async (app, options) => {
  const { database, imageUrls, requireConfirmation } = options;
  app.get('/me/data/', {
    config: { access: 'user', errors: [...confirmationErrors, httpErrors.quotaExceeded], readAhead },
    schema: {
      operationId: 'downloadOwnData',
      summary: 'Download the own data',
      description:
        'Everything that the service has about the user, as one JSON file without the envelope; images are URLs, and secrets are left out. It is written while it is read, so that a change meanwhile may be in one part and not in another. Needs a confirmation; five downloads in the 24 hours from the first. A connection that ends before the last brace has not transferred all of it.',
      response: {
        200: {
          description: 'The file',
          headers: {
            'Content-Disposition': {
              type: 'string',
              pattern: '^attachment; filename=',
              maxLength: 100,
              description: 'The name of the file',
            },
          },
          content: { 'application/json': { schema: Type.Unsafe<Readable>(Ref(OwnData)) } },
        },
      },
    },
    handler: async (request, reply) => {
      const user = currentUser(request);
      const context = requestContext(request);
      await requireConfirmation(user);
      const now = new Date();
      reply.headers({
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': `attachment; filename="dure-data-${now.toISOString().slice(0, 10)}.json"`,
      });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      const wait = await countOfUser(database, 'download', { userId: user.id, quota: downloadsPerDay });
      if (wait !== undefined) throw retryLater(httpErrors.quotaExceeded, wait);
      context.logSecurityEvent('data_downloaded', user);
      return reply.send(Readable.from(write(user.id, now), { objectMode: false }));
    },
  });

  /** Writes the file as the client reads it: one page of rows at a time, and no connection to the database between two pages. */
  async function* write(userId: number, now: Date): AsyncGenerator<string> {
    yield `{\n"exported_at":${JSON.stringify(now)}`;
    for (const [name, section] of Object.entries(sections)) {
      const { isSingle, present = (row) => row } = section;
      yield `,\n"${name}":${isSingle ? '' : '['}`;
      let separator = '';
      for await (const rows of readPages(database, section, userId)) {
        yield separator + rows.map((row) => JSON.stringify(present(row, imageUrls))).join(',\n');
        separator = ',\n';
      }
      if (isSingle) yield separator === '' ? 'null' : '';
      else yield ']';
    }
    yield '\n}\n';
  }
};
