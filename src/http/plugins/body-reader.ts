import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { ApiError, type ErrorDefinition, httpErrors, invalidFields, serviceUnavailable } from '../errors.ts';
import { limitProblems } from '../field-errors.ts';
import { clientAddress } from '../request-context.ts';

/** Of all bodies that are being read, and of images until they are converted. */
const maxBytes = 64 * 1024 * 1024;

/** Milliseconds between two looks at a body that is being read. */
const checkInterval = 5_000;

/** JSON and forms have 30 seconds; a body that the handler reads, an upload, as long as so many bytes arrive in each interval. */
const pace = { checks: 6, uploadBytes: 80_000 };

/** A body in more pieces than the first number has at least so many bytes for each: to read a piece of one byte takes as long as 1 KB. */
const pieceLimits = { free: 1_000, bytes: 32 };

const closing = { headers: { connection: 'close' } };

/** What is read of a body after its response: bytes, and milliseconds. */
const rest = { bytes: 64 * 1024, time: 5_000 };

/** A body in memory. That of an upload counts for the limit of all bodies until it is released. */
export interface Body {
  content: Buffer;
  release(): void;
}

interface Counted {
  address: string;
  bytes: number;
  /** Ends the reading; undefined when it is over. */
  reject: ((error: ApiError) => void) | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Reads the body into one buffer, so that its memory does not depend on its pieces. @param tooLarge the error above the `bodyLimit`
     *
     * @throws {ApiError} `tooLarge`, `request_timeout`; `malformed_request` for tiny pieces and when the client disconnects;
     *   `service_unavailable` when bodies fill the memory and this is the largest one of the client with the most
     */
    readBody(tooLarge?: ErrorDefinition): Promise<Body>;
  }
}

/** Reads bodies within limits of memory, time and pieces for all of them together. Parses JSON and nothing else. */
export const bodyReaderPlugin = fastifyPlugin(async (app) => {
  parseOnlyJson(app);
  const bodies = new Set<Counted>();
  let total = 0;

  function count(body: Counted, bytes: number): void {
    total += bytes - body.bytes;
    body.bytes = bytes;
    if (bytes > 0 && total > maxBytes) makeRoom();
  }

  /** The client that holds the most loses its largest body. */
  function makeRoom(): void {
    const reading = [...bodies].filter(({ reject }) => reject);
    const held = new Map<string, number>();
    for (const { address, bytes } of reading) held.set(address, (held.get(address) ?? 0) + bytes);
    const heldBy = ({ address }: Counted) => held.get(address) ?? 0;
    const [first] = reading.sort((a, b) => heldBy(b) - heldBy(a) || b.bytes - a.bytes);
    first?.reject?.(serviceUnavailable(new Error('bodies fill the memory')));
  }

  async function readBody(request: FastifyRequest, tooLarge = httpErrors.payloadTooLarge): Promise<Body> {
    const { raw, routeOptions } = request;
    const length = Number(request.headers['content-length'] ?? routeOptions.bodyLimit);
    if (length > routeOptions.bodyLimit) throw new ApiError(tooLarge);
    // Closed before, so that no event would follow.
    if (raw.destroyed) throw new ApiError(httpErrors.malformedRequest);
    const body: Counted = { address: clientAddress(request), bytes: 0, reject: undefined };
    const isUpload = routeOptions.config.handlerReadsBody === true;
    let [received, pieces, checks, checked] = [0, 0, 0, 0];
    let buffer = Buffer.alloc(0);
    function add(piece: Buffer): void {
      const start = received;
      received += piece.length;
      const isTiny = ++pieces > pieceLimits.free && received < pieces * pieceLimits.bytes;
      if (isTiny || received > length) {
        body.reject?.(new ApiError(isTiny ? httpErrors.malformedRequest : tooLarge));
        return;
      }
      if (received > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(length, Math.max(received, 2 * buffer.length)));
        buffer.copy(larger);
        buffer = larger;
        count(body, buffer.length);
      }
      piece.copy(buffer, start);
    }
    function release(): void {
      count(body, 0);
      bodies.delete(body);
    }
    function checkPace(): void {
      const isLate = isUpload ? received - checked < pace.uploadBytes : ++checks === pace.checks;
      checked = received;
      if (isLate) body.reject?.(new ApiError(httpErrors.requestTimeout, closing));
    }
    const timer = setInterval(checkPace, checkInterval);
    bodies.add(body);
    try {
      await new Promise<void>((resolve, reject) => {
        body.reject = reject;
        raw.on('data', add).once('end', resolve);
        raw.once('close', () => reject(new ApiError(httpErrors.malformedRequest)));
      });
      if (!isUpload) release();
      return { content: buffer.subarray(0, received), release };
    } catch (error) {
      // What is still to come waits for the response; see below.
      raw.off('data', add).pause();
      release();
      throw error;
    } finally {
      body.reject = undefined;
      clearInterval(timer);
    }
  }
  app.decorateRequest('readBody', function (tooLarge) {
    return readBody(this, tooLarge);
  });

  app.addHook('onSend', (request, _reply, payload, done) => {
    done(null, payload);
    const { raw, socket } = request;
    if (!hasBody(request) || raw.readableEnded || raw.destroyed) return;
    const before = socket.bytesRead;
    const timer = setTimeout(() => raw.destroy(), rest.time).unref();
    for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer));
    raw.on('data', () => {
      if (socket.bytesRead - before > rest.bytes) raw.destroy();
    });
    raw.resume();
  });
});

/** Reads a form of fields without files. */
export async function readForm(request: FastifyRequest): Promise<URLSearchParams> {
  return new URLSearchParams(String((await request.readBody()).content));
}

/** Whether a request has a body, which may be empty. */
export function hasBody({ headers }: FastifyRequest): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** The largest accepted body, in bytes, where a route sets no other `bodyLimit`. */
export const bodyLimit = 32 * 1024;

/** JSON of which what is given replaces what was there (RFC 7396). So does every `PATCH` with plain JSON. */
export const mergePatch = 'application/merge-patch+json';

/** Accepts JSON in UTF-8 and nothing else. */
function parseOnlyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(['application/json', mergePatch], async (request: FastifyRequest) => {
    const type = (request.headers['content-type'] ?? '').toLowerCase();
    const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/.exec(type)?.[1] ?? 'utf-8';
    const isWrongMethod = type.includes(mergePatch) && request.method !== 'PATCH';
    if (isWrongMethod || !/^utf-?8$/.test(charset)) throw new ApiError(httpErrors.unsupportedMediaType);
    const { content } = await request.readBody();
    // Some clients send the header with an empty body.
    if (content.length === 0) return undefined;
    try {
      const text = decoder.decode(content);
      const size = measureJson(text);
      if (size === 'too deep') throw new ApiError(httpErrors.malformedJson);
      if (size !== 'accepted')
        throw invalidFields([{ field: 'body', ...limitProblems.maxItems(size.tooMany) }]);
      return await new Promise((resolve, reject) => {
        parseJson(request, text, (error, value) => (error ? reject(error) : resolve(value)));
      });
    } catch (cause) {
      throw cause instanceof ApiError ? cause : new ApiError(httpErrors.malformedJson, { cause });
    }
  });
}

/** More levels of nesting than any schema has. */
const maxDepth = 16;

/** More properties, objects and lists, and more values in all, than any schema allows. */
const maxParts = 1_000;
const maxValues = 10_000;

/** Strings, which may contain anything, and what JSON is structured by. Linear: a string that does not end matches, too. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:,]/gs;

/** Measures JSON text, because parsing thousands of properties costs more than a request. @returns the limit where there are too many parts */
function measureJson(text: string): 'accepted' | 'too deep' | { tooMany: number } {
  let [depth, parts, values] = [0, 0, 0];
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (token === '{' || token === '[' || token === ':') parts++;
    if (token === ',') values++;
    if (depth > maxDepth) return 'too deep';
    if (parts > maxParts) return { tooMany: maxParts };
    if (values > maxValues) return { tooMany: maxValues };
  }
  return 'accepted';
}
