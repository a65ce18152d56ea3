import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config, Patience } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Metrics } from '../../infrastructure/telemetry/metrics.ts';
import { convertImage, createConversionQueue } from './conversion/convert.ts';
import { createPlaceholders } from './placeholders.ts';
import { createImageRepository } from './repository.ts';
import { imageRoutes, mediaRoutes, uploadRoutes } from './routes.ts';
import type { ImageUrls } from './schemas.ts';
import { createImageService } from './service.ts';
import { createDiskStorage, type ImageStorage, openS3Storage } from './storage.ts';

export { type PostImages, releaseImagesOf } from './repository.ts';
export { createImageUrls, type ImageUrls } from './schemas.ts';
export type { ImageStorage } from './storage.ts';

interface ImagesOptions {
  config: Pick<Config, 'images'> & Patience;
  database: Database;
  imageUrls: ImageUrls;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  storage: ImageStorage | undefined;
}

/** Builds the images domain: its routes under `/api/v1/images`, the files under `/media`, and what other domains need of it. */
export async function createImages(options: ImagesOptions) {
  const { config, database, logger, imageUrls, metrics } = options;
  const { s3, directory } = config.images;
  const storage = options.storage ?? (s3 ? await openS3Storage(s3) : createDiskStorage(directory));
  const images = createImageRepository(database);
  const queue = createConversionQueue((file, size) => convertImage(file, size, config.limitFactor));
  const findPlaceholder = createPlaceholders(images);
  const logLeftFiles = (err: unknown, image: number) =>
    logger.warn({ err, image }, 'the files of an image could not be deleted; the next clean-up tries again');
  const service = createImageService({ images, storage, queue, logLeftFiles });
  metrics.addGauge('image_conversions_running', 'Images that are being converted', queue.running);
  metrics.addGauge('image_conversions_waiting', 'Images that wait to be converted', queue.waiting);
  if (!s3) {
    metrics.addGauge('image_disk_free_ratio', 'Free part of the disk of the images: 0 to 1', async () => {
      // The first upload creates the folder.
      const disk = await statfs(directory)
        .catch(() => statfs(dirname(directory)))
        .catch(() => undefined);
      return disk && disk.bavail / disk.blocks;
    });
  }

  return {
    async routes(scope: FastifyInstance): Promise<void> {
      await scope.register(uploadRoutes, { service, imageUrls });
      await scope.register(imageRoutes, { service });
    },
    async media(scope: FastifyInstance): Promise<void> {
      await scope.register(mediaRoutes, { directory: s3 ? undefined : directory, findPlaceholder });
    },
    postImages: images,
    cleanUpImages: service.cleanUp,
  };
}
