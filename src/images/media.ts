import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ApiError, httpErrors } from '../http/errors.ts';
import { isId } from '../http/path-ids.ts';
import { staticFilesPlugin } from '../http/plugins/static-files.ts';

interface MediaOptions {
  /** Folder of the uploaded pictures; undefined where they are kept elsewhere. */
  directory: string | undefined;
  /** @returns the neutral picture of a category as WebP; undefined for a category that does not exist */
  findNeutral(categoryId: number): Promise<Buffer | undefined>;
}

const config = { limit: 'media' } as const;
const schema = { hide: true };

/** Serves pictures under `/media`. */
export async function mediaRoutes(
  app: FastifyInstance,
  { directory, findNeutral }: MediaOptions,
): Promise<void> {
  await app.register(staticFilesPlugin);

  app.get<{ Params: { file: string } }>('/categories/:file', { config, schema }, async (request, reply) => {
    const [, id = ''] = /^(\d+)\.webp$/.exec(request.params.file) ?? [];
    const picture = isId(id) ? await findNeutral(Number(id)) : undefined;
    if (picture === undefined) throw new ApiError(httpErrors.notFound);
    // Not for a year, because the URL remains when the drawing changes.
    showEverywhere(reply).header('cache-control', 'public, max-age=86400');
    return reply.type('image/webp').send(picture);
  });

  if (directory === undefined) return;
  await app.register(fastifyStatic, { root: directory, serve: false, suppressWarning: true });
  // A route of our own: only names of pictures reach the disk, and no folder is listed to look for one.
  app.get<{ Params: { folder: string; file: string } }>(
    '/:folder/:file',
    { config, schema },
    (request, reply) => {
      const name = `${request.params.folder}/${request.params.file}`;
      if (!/^[0-9a-f]{2}\/[0-9a-f]{30}(?:-480)?\.webp$/.test(name)) throw new ApiError(httpErrors.notFound);
      showEverywhere(reply).sendFile(name, { maxAge: '365d', immutable: true });
    },
  );
}

/** Lets pages of other origins show a picture, which they may link to as well. */
function showEverywhere(reply: FastifyReply): FastifyReply {
  return reply.header('cross-origin-resource-policy', 'cross-origin');
}
