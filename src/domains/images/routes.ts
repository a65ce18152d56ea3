import fastifyStatic from '@fastify/static';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { ApiError, found, httpErrors } from '../../http/errors.ts';
import { staticFilesPlugin } from '../../http/pages.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { BigPathId, EmptyData, emptyData, isId, Ref } from '../../http/schemas.ts';
import type { createPlaceholders } from './placeholders.ts';
import { Image, type ImageUrls, imageErrors, NewImage, toImage } from './schemas.ts';
import type { ImageService } from './service.ts';
import { isFileName } from './storage.ts';
import { createUploadReader, maxUploadBytes } from './upload-reader.ts';

/** Uploading an image. Register it in a scope of its own: it takes no JSON. */
export const uploadRoutes: Routes<{ service: ImageService; imageUrls: ImageUrls }> = async (
  app,
  { service, imageUrls },
) => {
  const withUpload = createUploadReader();
  // The handler reads the body, of whatever type, after everything else was checked; its schema is for the document.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('preValidation', async (request) => {
    request.body = { image: '' };
  });

  app.post('/', {
    bodyLimit: maxUploadBytes,
    config: {
      ...operation('user', '사진을 올렸습니다.', 'Your image has been uploaded.'),
      errors: [
        imageErrors.invalidImage,
        imageErrors.tooLarge,
        imageErrors.notMultipart,
        httpErrors.quotaExceeded,
        httpErrors.requestTimeout,
      ],
      handlerReadsBody: true,
    },
    schema: {
      operationId: 'uploadImage',
      summary: 'Upload an image',
      description:
        'Keeps an image for posts of the user: put its `url` into `images` of a post. It is turned upright, encoded again as WebP in two sizes, and loses all metadata, such as the place where it was taken. What it is decides, not what it is called; of an animated image, the first frame is kept. An image that no post uses 24 hours after the upload is deleted. A user can upload 200 images in the 24 hours from the first, deleted, rejected and cancelled ones included, and two at once (429 `rate_limited`). In every 5 seconds of an upload at least 80 kB must arrive, else it ends with 408.',
      consumes: ['multipart/form-data'],
      body: Ref(NewImage),
      response: { 201: Ref(Image) },
    },
    handler: async (request, reply) => {
      const { id: userId } = currentUser(request);
      const image = await withUpload(request, (read) =>
        service.upload({
          userId,
          async read() {
            request.deadline?.pause();
            return read().finally(request.deadline?.start);
          },
          isObsolete: () => reply.sent || reply.raw.destroyed,
        }),
      );
      return toImage(image, imageUrls);
    },
  });
};

export const imageRoutes: Routes<{ service: ImageService }> = async (app, { service }) => {
  app.delete('/:image_id/', {
    config: {
      ...operation('user', '사진을 삭제했습니다.', 'Your image has been deleted.'),
      errors: [imageErrors.imageNotFound, imageErrors.imageInUse],
    },
    schema: {
      operationId: 'deleteImage',
      summary: 'Delete an image',
      description: 'Deletes an uploaded image of the user that no post uses.',
      params: Type.Object({ image_id: BigPathId('`id` of an image') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => emptyData(service.remove(currentUser(request).id, request.params.image_id)),
  });
};

/** A page of posts shows dozens of them. */
const mediaRoute = { config: { limit: { group: 'media', max: 3_000 } }, schema: { hide: true } };

/** Serves images under `/media`. @param options without `directory` where uploaded images are kept elsewhere */
export async function mediaRoutes(
  app: FastifyInstance,
  options: { directory: string | undefined; findPlaceholder: ReturnType<typeof createPlaceholders> },
): Promise<void> {
  const { directory, findPlaceholder } = options;
  await app.register(staticFilesPlugin);

  app.get<{ Params: { file: string } }>('/categories/:file', mediaRoute, async (request, reply) => {
    const [, id = ''] = /^(\d+)\.webp$/.exec(request.params.file) ?? [];
    const placeholder = found(isId(id) ? await findPlaceholder(Number(id)) : undefined);
    // Not for a year, because the URL remains when the drawing changes.
    showEverywhere(reply).header('cache-control', 'public, max-age=86400');
    return reply.type('image/webp').send(placeholder);
  });

  if (directory === undefined) return;
  await app.register(fastifyStatic, { root: directory, serve: false, suppressWarning: true });
  // A route of our own: only names of images reach the disk, and no folder is listed to look for one.
  app.get<{ Params: { folder: string; file: string } }>('/:folder/:file', mediaRoute, (request, reply) => {
    const name = `${request.params.folder}/${request.params.file}`;
    if (!isFileName(name)) throw new ApiError(httpErrors.notFound);
    showEverywhere(reply).sendFile(name, { maxAge: '365d', immutable: true });
  });
}

/** Lets pages of other origins show an image, which they may link to as well. */
const showEverywhere = (reply: FastifyReply) => reply.header('cross-origin-resource-policy', 'cross-origin');
