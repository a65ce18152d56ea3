import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/client.ts';
import { requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { EmptyData } from '../http/schemas.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createImageCleanUp } from './clean-up.ts';
import { createConversionQueue } from './conversion/queue.ts';
import type { ImageUrls } from './image-urls.ts';
import { mediaRoutes } from './media.ts';
import { createNeutralPictures } from './neutral/neutral-pictures.ts';
import { postImages } from './post-images.ts';
import { createImageRepository } from './repository.ts';
import { imageRoutes, uploadRoutes } from './routes.ts';
import { imageSchemas } from './schemas.ts';
import { createImageService } from './service.ts';
import { type ImageStorage, openStorage } from './storage/storage.ts';

export { erasedImages } from './clean-up.ts';

interface ImagesOptions {
  config: Pick<Config, 'images'>;
  database: Database;
  imageUrls: ImageUrls;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  /** In place of the configured storage. */
  storage: ImageStorage | undefined;
}

/** Builds the images domain: its routes under `/api/v1/images`, the files under `/media`, and what other domains need of it. */
export async function createImages(options: ImagesOptions) {
  const { config, database, logger, imageUrls, metrics } = options;
  const storage = options.storage ?? (await openStorage(config.images));
  const images = createImageRepository(database);
  const queue = createConversionQueue();
  const reportLeft = (error: unknown, image: number) =>
    logger.warn({ err: error, image }, 'files of a picture are left to the clean-up');
  const service = createImageService({ images, storage, queue, reportLeft });
  const neutral = createNeutralPictures(database);
  metrics.addGauge('image_conversions_running', 'Pictures that are being converted', queue.running);
  metrics.addGauge('image_conversions_waiting', 'Pictures that wait to be converted', queue.waiting);

  async function routes(scope: FastifyInstance): Promise<void> {
    await scope.register(documentDomain, { tag: 'images', schemas: [EmptyData, ...imageSchemas] });
    await scope.register(requireUser);
    await scope.register(uploadRoutes, { service, imageUrls });
    await scope.register(imageRoutes, { service, imageUrls });
  }

  async function media(scope: FastifyInstance): Promise<void> {
    const directory = config.images.s3 ? undefined : config.images.directory;
    await scope.register(mediaRoutes, { directory, findNeutral: neutral.find });
  }

  return {
    routes,
    media,
    postImages,
    releaseImagesOf: images.releaseAllOf,
    cleanUpImages: createImageCleanUp({ database, service, reportLeft }),
  };
}
