import multipart from '@fastify/multipart';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { currentUser } from '../http/authentication.ts';
import { httpErrors } from '../http/errors.ts';
import { PathId } from '../http/path-ids.ts';
import { EmptyData, Ref } from '../http/schemas.ts';
import { imageErrors } from './errors.ts';
import type { ImageUrls } from './image-urls.ts';
import { toImage } from './presenters.ts';
import { Image, NewImage } from './schemas.ts';
import type { ImageService } from './service.ts';
import { createUploadReader, multipartLimits } from './upload-reader.ts';

interface ImageRoutesOptions {
  service: ImageService;
  imageUrls: ImageUrls;
}

/** Uploading a picture. Register it in a scope of its own: it takes no JSON. */
export const uploadRoutes: FastifyPluginAsyncTypebox<ImageRoutesOptions> = async (
  app,
  { service, imageUrls },
) => {
  const reader = createUploadReader();
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: multipartLimits });
  // Every other type is refused by the reader, which leaves the connection usable.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  validateWithoutBody(app);

  app.post(
    '/',
    {
      prefixTrailingSlash: 'slash',
      config: {
        message: { ko: '사진을 올렸습니다.', en: 'Your picture has been uploaded.' },
        errors: [
          imageErrors.invalidImage,
          imageErrors.tooLarge,
          imageErrors.notMultipart,
          httpErrors.quotaExceeded,
          httpErrors.requestTimeout,
        ],
        readsBody: true,
      },
      schema: {
        operationId: 'uploadImage',
        summary: 'Upload a picture',
        description:
          'Keeps a picture for posts of the user: put its `url` into `images` of a post. It is turned upright, encoded again as WebP in two sizes, and loses all metadata, such as the place where it was taken. What it is decides, not what it is called; of an animated picture, the first frame is kept. A picture that no post uses 24 hours after the upload is deleted. A user can upload 200 pictures within 24 hours, deleted, rejected and cancelled ones included, and two at once (429 `rate_limited`). In every 5 seconds of an upload at least 80 kB must arrive, else it ends with 408.',
        consumes: ['multipart/form-data'],
        body: Ref(NewImage),
        response: { 201: Ref(Image) },
      },
    },
    async (request, reply) => {
      const { id: userId } = currentUser(request);
      const image = await reader.withUpload(request, (read) =>
        service.upload({
          userId,
          async read() {
            reply.pauseDeadline();
            return read().finally(reply.startDeadline.bind(reply));
          },
          language: request.language,
          isObsolete: () => reply.sent || reply.raw.destroyed,
        }),
      );
      reply.code(201);
      return toImage(image, imageUrls);
    },
  );
};

/** The body is read by the handler, after everything else was checked; its schema is for the document. */
function validateWithoutBody(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { validatorCompiler } = route;
    if (validatorCompiler === undefined) return;
    route.validatorCompiler = (part) => (part.httpPart === 'body' ? () => true : validatorCompiler(part));
  });
}

/** Deleting a picture. */
export const imageRoutes: FastifyPluginAsyncTypebox<ImageRoutesOptions> = async (app, { service }) => {
  app.delete(
    '/:image_id/',
    {
      config: {
        message: { ko: '사진을 삭제했습니다.', en: 'Your picture has been deleted.' },
        errors: [imageErrors.imageNotFound, imageErrors.imageInUse],
      },
      schema: {
        operationId: 'deleteImage',
        summary: 'Delete a picture',
        description: 'Deletes an uploaded picture of the user that no post uses.',
        params: Type.Object({ image_id: PathId('`id` of a picture') }),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      await service.remove(currentUser(request).id, request.params.image_id);
      return {};
    },
  );
};
