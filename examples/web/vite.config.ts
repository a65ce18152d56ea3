import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { defineConfig, loadEnv, type Plugin } from 'vite';
import { createSharedPages, hostAccount } from './share.mjs';

export default defineConfig(({ mode }) => ({
  // Links in emails lead to the port of the service's default FRONTEND_URL. On another port they would not work.
  server: { host: 'localhost', port: 5173, strictPort: true },
  preview: { host: 'localhost', port: 5173, strictPort: true },
  // The source is React. Preact runs it in 14 kB in place of 69; without these lines, React does.
  resolve: {
    alias: [
      { find: /^react$/, replacement: 'preact/compat' },
      { find: /^react-dom$/, replacement: 'preact/compat' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
      { find: /^react\/jsx-dev-runtime$/, replacement: 'preact/jsx-dev-runtime' },
    ],
  },
  // Libraries for React's server components have directives and imports that a browser does not need.
  build: { rolldownOptions: { checks: { moduleLevelDirective: false, importIsUndefined: false } } },
  plugins: [
    texts(),
    head(loadEnv(mode, import.meta.dirname)),
    sharedPosts(loadEnv(mode, import.meta.dirname)),
  ],
}));

/** Makes a function of each text in messages/, in all languages. */
function texts() {
  const [project, outdir] = ['project.inlang', 'src/paraglide'].map((path) =>
    join(import.meta.dirname, path),
  );
  return paraglideVitePlugin({
    project: project ?? '',
    outdir: outdir ?? '',
    strategy: ['globalVariable', 'baseLocale'],
    emitReadme: false,
  });
}

/** What the build adds to the page: its policy, and the image that KakaoTalk and others show for a link, by its whole address. */
function head({ VITE_API_URL = 'http://localhost:3000', VITE_APP_URL }: Record<string, string>): Plugin {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Images of posts may be on any server, and a preview is a blob.
    'img-src https: http: blob: data:',
    // Lighthouse reads robots.txt from the page.
    `connect-src 'self' ${VITE_API_URL}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
  ].join('; ');
  const meta = (attrs: Record<string, string>) => ({ tag: 'meta', attrs, injectTo: 'head-prepend' as const });
  return {
    name: 'head',
    // The development server has inline scripts.
    apply: 'build',
    transformIndexHtml: () => [
      meta({ 'http-equiv': 'Content-Security-Policy', content: policy }),
      ...(VITE_APP_URL ? [meta({ property: 'og:image', content: `${VITE_APP_URL}/share.png` })] : []),
    ],
  };
}

/**
 * Adds the title of a shared post to its page, as share.mjs does behind a host; in development, beside a service on this machine,
 * with an account that it creates.
 */
function sharedPosts({ VITE_API_URL: apiUrl = 'http://localhost:3000' }: Record<string, string>): Plugin {
  const forDevelopment = { username: 'shared-posts', password: 'shown-to-guests-in-development' };
  const signUp = { name: 'Dure', email: 'shared-posts@example.com' };
  // Anybody could log in with this password.
  const isHere = /^https?:\/\/localhost(?=[:/]|$)/.test(apiUrl);
  const inDevelopment = createSharedPages(
    isHere ? { apiUrl, account: forDevelopment, signUp } : { apiUrl, account: hostAccount() },
  );
  return {
    name: 'shared-posts',
    apply: 'serve',
    transformIndexHtml: (html, { originalUrl }) => inDevelopment(html, originalUrl),
    configurePreviewServer({ middlewares, config }) {
      const share = createSharedPages({ apiUrl, account: hostAccount() });
      const read = () => readFile(resolve(config.root, config.build.outDir, 'index.html'), 'utf8');
      middlewares.use(({ url = '' }, response, next) => {
        if (!url.startsWith('/posts/')) return next();
        response.setHeader('content-type', 'text/html; charset=utf-8');
        read()
          .then((page) => share(page, url))
          .then((page) => response.end(page))
          .catch(next);
      });
    },
  };
}
