import type { FastifyRequest } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { ApiError, httpErrors, invalidFields, retryLater, serviceUnavailable } from '../../http/errors.ts';
import { fieldName, pointerTo, problems } from '../../http/field-errors.ts';
import { clientAddress } from '../../http/request-context.ts';
import { hasCode } from '../../infrastructure/database/errors.ts';
import { imageErrors } from './schemas.ts';

/** Bytes of an image. */
const maxImageBytes = 10 * 1024 * 1024;

/** Bytes of a body beside the image: boundaries and headers of the part. */
const maxOverhead = 64 * 1024;

/** Bytes of all images that are being read or converted. */
const maxBufferedBytes = 64 * 1024 * 1024;

/** Uploads of one user at once, which are 20 MiB. */
const maxUploadsOfUser = 2;

/** Bytes of an image that must arrive in each interval of so many milliseconds. */
const slowest = { bytes: 80_000, interval: 5_000 } as const;

/** What `@fastify/multipart` and its parser may read; one byte more than allowed shows that an image is too large. */
export const multipartLimits = {
  fileSize: maxImageBytes + 1,
  files: 2,
  fields: 2,
  parts: 3,
  fieldNameSize: 200,
  fieldSize: 1_000,
  headerPairs: 20,
};

const fileField = 'image';

interface Upload {
  userId: number;
  address: string;
  /** Of the image, in memory. */
  bytes: number;
  /** Ends the upload with an error; undefined unless its image is being read. */
  end?: ((error: ApiError) => void) | undefined;
}

/** Reads the images of uploads into memory, within limits for those of one user and for all of them together. */
export function createUploadReader() {
  const uploads = new Set<Upload>();

  /**
   * Lets a user upload an image. Its bytes count until the work has ended.
   *
   * @param work gets the function that reads the image
   * @throws {ApiError} `rate_limited` while two uploads of the user are under way. Reading throws `validation_error` when the body
   *   is not exactly one file `image`, `payload_too_large`, `unsupported_media_type`, `request_timeout` when too little arrives,
   *   `service_unavailable` when uploads fill the memory
   */
  async function withUpload<Result>(
    request: FastifyRequest,
    work: (read: () => Promise<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    const { id: userId } = currentUser(request);
    if ([...uploads].filter((other) => other.userId === userId).length === maxUploadsOfUser) {
      discardRest(request);
      throw retryLater(httpErrors.rateLimited, 2);
    }
    const upload: Upload = { userId, address: clientAddress(request), bytes: 0 };
    uploads.add(upload);
    function count(bytes: number): void {
      upload.bytes += bytes;
      if (upload.bytes > maxImageBytes) throw new ApiError(imageErrors.tooLarge);
      makeRoom();
    }
    async function read(): Promise<Buffer> {
      // The parser ends with an error of the request.
      upload.end = (error) => request.raw.emit('error', error);
      let before = 0;
      const timer = setInterval(() => {
        if (upload.bytes - before < slowest.bytes) {
          upload.end?.(new ApiError(httpErrors.requestTimeout, { headers: { connection: 'close' } }));
        }
        before = upload.bytes;
      }, slowest.interval);
      return readFile(request, count).finally(() => {
        clearInterval(timer);
        upload.end = undefined;
      });
    }
    try {
      return await work(read);
    } finally {
      discardRest(request);
      uploads.delete(upload);
    }
  }

  /** Beyond the limit, the client that holds the most loses its largest upload. */
  function makeRoom(): void {
    if (sizeOf([...uploads]) <= maxBufferedBytes) return;
    const reading = [...uploads].filter(({ end }) => end);
    const heldBy = (address: string) => sizeOf(reading.filter((upload) => upload.address === address));
    const [first] = reading.toSorted((a, b) => heldBy(b.address) - heldBy(a.address) || b.bytes - a.bytes);
    if (first === undefined) return;
    uploads.delete(first);
    first.end?.(serviceUnavailable(new Error('uploads fill the memory')));
  }

  return withUpload;
}

const sizeOf = (uploads: Upload[]) => uploads.reduce((sum, { bytes }) => sum + bytes, 0);

async function readFile(request: FastifyRequest, count: (bytes: number) => void): Promise<Buffer> {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const isEmpty = encoding === undefined && Number(length ?? 0) === 0;
  if (type === undefined && isEmpty) throw invalidFields([{ field: fileField, ...problems.required }]);
  if (!request.isMultipart()) throw new ApiError(imageErrors.notMultipart);
  if (Number(length) > maxImageBytes + maxOverhead) throw new ApiError(imageErrors.tooLarge);
  // Closed before the parser listens, so that it would wait for an end.
  if (request.raw.destroyed) throw new ApiError(httpErrors.malformedRequest);
  let bytes: Buffer | undefined;
  try {
    for await (const part of request.parts()) {
      if (part.fieldname !== fileField) {
        throw invalidFields([
          { field: fieldName(pointerTo(part.fieldname ?? '')), ...problems.unknownField },
        ]);
      }
      if (part.type === 'field') throw invalidFields([{ field: fileField, ...problems.file }]);
      if (bytes !== undefined) throw invalidFields([{ field: fileField, ...problems.tooMany(1) }]);
      const chunks: Buffer[] = [];
      for await (const chunk of part.file) {
        count(chunk.length);
        chunks.push(chunk);
      }
      bytes = Buffer.concat(chunks);
    }
  } catch (error) {
    throw toApiError(error);
  }
  if (bytes === undefined) throw invalidFields([{ field: fileField, ...problems.required }]);
  return bytes;
}

/** What the parser rejects is the mistake of a client: a broken body, or too many parts. */
function toApiError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  // The client disconnected, so no response can reach it.
  if (hasCode(error, 'FST_MP_PREMATURE_CLOSE', 'ECONNRESET'))
    return new ApiError(httpErrors.malformedRequest, { cause: error });
  return invalidFields([{ field: 'body', ...problems.multipart }]);
}

/** Reads what is left of a rejected body, so that the client gets the response and the connection serves the next request. */
function discardRest({ raw }: FastifyRequest): void {
  if (raw.readableEnded) return;
  raw.unpipe();
  raw.resume();
}
