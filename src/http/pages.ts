import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import Negotiator from 'negotiator';
import { version } from '../infrastructure/config/readers.ts';
import { ApiError, httpErrors } from './errors.ts';
import type { Language } from './language.ts';
import { sendError } from './plugins/envelope.ts';
import { once } from './plugins/validation.ts';

/* What a browser gets beside the API: pages, their icon and files. */

/** The icon of the pages that the service shows: two circles that overlap, as SVG. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f6f4a"/><g fill="none" stroke="#fff" stroke-width="3"><circle cx="12.5" cy="16" r="6.5"/><circle cx="19.5" cy="16" r="6.5"/></g></svg>';

const pageStyle = `:root{color-scheme:light dark;--page:#f3f6f4;--card:#fff;--ink:#1d2a23;--soft:#55635b;--box:#eef5f0;--brand:#1f6f4a;--on-brand:#fff}
@media (prefers-color-scheme:dark){:root{--page:#131a16;--card:#1c2620;--ink:#eef3ef;--soft:#b3c2b9;--box:#26332b;--brand:#8fdab2;--on-brand:#131a16}}
*{box-sizing:border-box}
body{max-width:720px;margin:0 auto;padding:16px;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,sans-serif;word-break:keep-all;overflow-wrap:anywhere}`;

/** The source of an inline script or style in a content security policy. */
export function hashSource(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}

/**
 * Sends a page that loads nothing from elsewhere.
 *
 * @param page `title` and `body` are HTML, `style` follows the common styles; `policy` has what the content security policy
 *   allows, and `styles` the source of styles where others than that of the page are allowed
 */
export function sendPage(
  reply: FastifyReply,
  page: { language: Language; title: string; style: string; body: string; policy: string[]; styles?: string },
) {
  const style = `${pageStyle}\n${page.style}`;
  const policy = [
    `default-src 'none'; style-src ${page.styles ?? hashSource(style)}`,
    ...page.policy,
    // For the icon.
    "img-src data:; frame-ancestors 'none'; base-uri 'none'",
  ];
  return reply
    .header('content-security-policy', policy.join('; '))
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(`<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<title>${page.title}</title>
<style>${style}</style>
</head>
<body>
${page.body}
</body>
</html>
`);
}

/** Whether a client prefers HTML, as browsers do. A type for anything, such as that of curl, does not count. */
export function prefersHtml(accept: string | undefined): boolean {
  const types = ['application/json', 'text/html'];
  return new Negotiator({ headers: { accept } }).mediaType(types) === 'text/html';
}

/** Answers what `@fastify/static` rejects, such as `..` or a backslash, with 404. Register it in each scope, before `@fastify/static`. */
export const staticFilesPlugin = fastifyPlugin(async (app: FastifyInstance) => {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    const isRejection = !(error instanceof ApiError) && statusCode >= 400 && statusCode < 500;
    const shown = isRejection ? new ApiError(httpErrors.notFound, { cause: error }) : error;
    return sendError(shown, request, reply);
  });
});

/** `GET /`: leads a browser to Swagger UI where it is enabled, and tells every other client what this is. */
export async function rootRoutes(
  app: FastifyInstance,
  { docsEnabled }: { docsEnabled: boolean },
): Promise<void> {
  const about = { name: 'Dure', version, openapi: '/openapi.yaml', ...(docsEnabled && { docs: '/docs/' }) };

  app.get('/', { schema: { hide: true } }, async ({ headers: { accept } }, reply) => {
    if (!docsEnabled) return about;
    reply.header('vary', `${reply.getHeader('vary')}, Accept`);
    return prefersHtml(accept) ? reply.redirect('/docs/') : about;
  });
}

/** Adds a `GET` of content that stays the same. It is compressed once: half a megabyte for each request would use up the CPU. */
export function serveFixed(
  app: FastifyInstance,
  path: string,
  { type, read }: { type: string; read(): string | Buffer },
): void {
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
    return reply.type(`${type}; charset=utf-8`).send(body ?? content);
  });
}
