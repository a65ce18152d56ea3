import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { once } from './plugins/validation.ts';

interface FixedContent {
  type: string;
  /** Called at the first request. */
  read(): string | Buffer;
}

/**
 * Adds a `GET` of content that stays the same while the process runs. It is compressed once and kept in memory: compressing half a
 * megabyte for each request would let clients use up the CPU.
 */
export function serveFixed(app: FastifyInstance, path: string, { type, read }: FixedContent): void {
  const prepare = once(async () => {
    const content = Buffer.from(read());
    // Beyond 5, the time triples for a few percent less.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(content, { params }),
      promisify(gzip)(content),
    ]);
    const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`;
    return { tag, compressed: Object.entries({ br, gzip: gz }), content };
  });

  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const { tag, compressed, content } = await prepare();
    reply.headers({
      // Weak, because it is the same in every encoding.
      etag: `W/${tag}`,
      'cache-control': 'no-cache',
      vary: `${reply.getHeader('vary')}, Accept-Encoding`,
    });
    if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send();
    const accepted = new Negotiator(request).encodings(['br', 'gzip']);
    // The best one, although browsers name `br` last.
    const [encoding, body] = compressed.find(([name]) => accepted.includes(name)) ?? [];
    if (encoding !== undefined) reply.header('content-encoding', encoding);
    return reply.type(type).send(body ?? content);
  });
}
