import { DeleteObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Config } from '../../infrastructure/config/config.ts';

/** Milliseconds. Two attempts at the longest remain below the deadline of a request. */
const times = { connection: 1_500, request: 2_500, all: 6_000 };

/** An `ImageStorage` in a bucket of S3, or of a store that has its interface. */
export function createS3Storage(s3: NonNullable<Config['images']['s3']>) {
  const { bucket, endpoint, region, credentials } = s3;
  const client = new S3Client({
    region,
    // Without credentials, the SDK looks for them: environment, shared files, role of the machine. It writes into the object, and
    // the configuration is frozen.
    ...(credentials ? { credentials: { ...credentials } } : {}),
    // Other stores have no host name for each bucket.
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    maxAttempts: 2,
    // Newer checksums than the signature's are rejected by many stores.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: times.connection,
      requestTimeout: times.request,
      throwOnRequestTimeout: true,
    },
  });

  return {
    async put(name: string, bytes: Buffer): Promise<void> {
      const command = new PutObjectCommand({
        Bucket: bucket,
        Key: name,
        Body: bytes,
        ContentType: 'image/webp',
        CacheControl: 'public, max-age=31536000, immutable',
      });
      await client.send(command, { abortSignal: AbortSignal.timeout(times.all) });
    },
    async delete(name: string): Promise<void> {
      const command = new DeleteObjectCommand({ Bucket: bucket, Key: name });
      await client.send(command, { abortSignal: AbortSignal.timeout(times.all) });
    },
  };
}
