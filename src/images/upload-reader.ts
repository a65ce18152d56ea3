import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { ApiError, httpErrors, invalidFields, serviceUnavailable } from '../http/errors.ts';
import { type FieldError, fieldName, pointerTo, problems } from '../http/field-errors.ts';
import { imageErrors } from './errors.ts';

/** Bytes of a picture. */
export const maxImageBytes = 10 * 1024 * 1024;

/** Bytes of a body beside the picture: boundaries and headers of the part. */
const maxOverhead = 64 * 1024;

/** Bytes of all pictures that are being read or converted. */
export const maxBufferedBytes = 64 * 1024 * 1024;

/** What `@fastify/multipart` and its parser may read; one byte more than allowed shows that a picture is too large. */
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

/** Reads the pictures of uploads into memory, within a limit for all of them together. */
export function createUploadReader(maxBuffered = maxBufferedBytes) {
  let buffered = 0;

  /**
   * Reads a picture and works with it. Its bytes count until the work has ended.
   *
   * @throws {ApiError} `validation_error` when the body is not exactly one file `image`, `payload_too_large`,
   *   `unsupported_media_type`, `service_unavailable` when other uploads fill the memory
   */
  async function withUpload<Result>(
    request: FastifyRequest,
    work: (bytes: Buffer) => Promise<Result>,
  ): Promise<Result> {
    let own = 0;
    function count(bytes: number): void {
      own += bytes;
      buffered += bytes;
      if (own > maxImageBytes) throw new ApiError(imageErrors.tooLarge);
      if (buffered > maxBuffered) throw serviceUnavailable(new Error('uploads fill the memory'));
    }
    try {
      return await work(await readFile(request, count));
    } finally {
      buffered -= own;
    }
  }

  return { withUpload };
}

async function readFile(request: FastifyRequest, count: (bytes: number) => void): Promise<Buffer> {
  const { 'content-type': type, 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  const isEmpty = encoding === undefined && Number(length ?? 0) === 0;
  if (type === undefined && isEmpty) throw invalidFields([{ field: fileField, ...problems.required }]);
  if (!request.isMultipart()) throw new ApiError(imageErrors.notMultipart);
  if (Number(length) > maxImageBytes + maxOverhead) throw new ApiError(imageErrors.tooLarge);
  let bytes: Buffer | undefined;
  try {
    for await (const part of request.parts({ limits: multipartLimits })) {
      const problem = problemOf(part, bytes !== undefined);
      if (problem !== undefined) throw invalidFields([problem]);
      if (part.type === 'file') bytes = await readPart(part, count);
    }
  } catch (error) {
    throw failureOf(error);
  } finally {
    discardRest(request);
  }
  if (bytes === undefined) throw invalidFields([{ field: fileField, ...problems.required }]);
  return bytes;
}

function problemOf(
  { type, fieldname }: { type: 'file' | 'field'; fieldname: string },
  hasFile: boolean,
): FieldError | undefined {
  if (fieldname !== fileField) {
    return { field: fieldName(pointerTo(fieldname ?? '')), ...problems.unknownField };
  }
  if (type === 'field') return { field: fileField, ...problems.file };
  return hasFile ? { field: fileField, ...problems.tooMany(1) } : undefined;
}

async function readPart({ file }: MultipartFile, count: (bytes: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file) {
    count(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What the parser refuses is the mistake of a client: a broken body, or too many parts. */
function failureOf(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  // The client disconnected, so no answer can reach it.
  if (code === 'FST_MP_PREMATURE_CLOSE' || code === 'ECONNRESET') {
    return new ApiError(httpErrors.malformedRequest, { cause: error });
  }
  return invalidFields([{ field: 'body', ...problems.multipart }]);
}

/** Reads what is left of a refused body, so that the client gets the answer and the connection serves the next request. */
function discardRest({ raw }: FastifyRequest): void {
  if (raw.readableEnded) return;
  raw.unpipe();
  raw.resume();
}
