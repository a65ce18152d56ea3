import type { FastifyRequest } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { ApiError, httpErrors, invalidFields, retryLater } from '../../http/errors.ts';
import { fieldName, limitProblems, problems } from '../../http/field-errors.ts';
import { type Body, hasBody } from '../../http/plugins/body-reader.ts';
import { imageErrors } from './schemas.ts';

const maxImageBytes = 10 * 1024 * 1024;
/** Bytes of an upload: the image, boundaries and headers of the part. */
export const maxUploadBytes = maxImageBytes + 64 * 1024;
/** Uploads of one user at once, which are 20 MiB. */
const maxUploadsOfUser = 2;
/** Bytes of the headers of a part. */
const maxHeaders = 4 * 1024;
const fileField = 'image';

/** Reads the images of uploads into memory, within a limit for those of one user. */
export function createUploadReader() {
  const uploads: number[] = [];

  /**
   * Lets a user upload an image. Its bytes count for the limit of all bodies until the work has ended.
   *
   * @param work gets the function that reads the image
   * @throws {ApiError} `rate_limited` while two uploads of the user are under way. Reading throws `validation_error` when the body
   *   is not exactly one file `image`, `payload_too_large`, `unsupported_media_type`, and what {@link FastifyRequest.readBody} throws
   */
  return async function withUpload<Result>(
    request: FastifyRequest,
    work: (read: () => Promise<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    const { id: userId } = currentUser(request);
    if (uploads.filter((id) => id === userId).length === maxUploadsOfUser) {
      throw retryLater(httpErrors.rateLimited, 2);
    }
    uploads.push(userId);
    let body: Body | undefined;
    try {
      return await work(async () => {
        const boundary = boundaryOf(request);
        body = await request.readBody(imageErrors.tooLarge);
        return imageOf(body.content, boundary);
      });
    } finally {
      body?.release();
      uploads.splice(uploads.indexOf(userId), 1);
    }
  };
}

function boundaryOf(request: FastifyRequest): string {
  const { 'content-type': type, 'content-length': length } = request.headers;
  if (type === undefined && (length === '0' || !hasBody(request))) throw required();
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type ?? '')) throw new ApiError(imageErrors.notMultipart);
  const [, quoted, token] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type ?? '') ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined) throw malformed();
  return boundary;
}

/** The one file `image` of a form (RFC 7578), without a copy of it, by one pass over the body. */
function imageOf(body: Buffer, boundary: string): Buffer {
  if (body.length === 0) throw required();
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const textAt = (start: number, end: number) => body.toString('utf8', start, end);
  let image: Buffer | undefined;
  // The first delimiter may begin the body.
  const first = body.indexOf(delimiter.subarray(2));
  let at = first < 0 ? body.length : first + delimiter.length - 2;
  while (textAt(at, at + 2) === '\r\n') {
    const headEnd = body.subarray(0, at + maxHeaders).indexOf('\r\n\r\n', at);
    const end = body.indexOf(delimiter, headEnd + 4);
    if (headEnd < 0 || end < 0) throw malformed();
    checkHead(textAt(at, headEnd));
    if (image) throw invalidFields([{ field: fileField, ...limitProblems.maxItems(1) }]);
    image = body.subarray(headEnd + 4, end);
    at = end + delimiter.length;
  }
  if (textAt(at, at + 2) !== '--') throw malformed();
  if (image === undefined) throw required();
  if (image.length > maxImageBytes) throw new ApiError(imageErrors.tooLarge);
  return image;
}

function checkHead(head: string): void {
  const name = /^content-disposition:.*?;\s*name=(?:"([^"]*)"|([^\s;"]+))/im.exec(head)?.slice(1).join('');
  if (name === undefined || name in Object.prototype) throw malformed();
  if (name !== fileField) throw invalidFields([{ field: fieldName(name), ...problems.unknownField }]);
  const isFile = /^content-disposition:.*;\s*filename\*?=|^content-type:\s*application\/octet-stream/im;
  if (!isFile.test(head)) throw invalidFields([{ field: fileField, ...problems.file }]);
}

const malformed = () => invalidFields([{ field: 'body', ...problems.multipart }]);
const required = () => invalidFields([{ field: fileField, ...problems.required }]);
