import { defineConfig, type Plugin } from 'vite';

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
  plugins: mode === 'production' ? [contentSecurityPolicy()] : [],
}));

/** Writes the policy into the page of the build. The development server needs inline scripts. */
function contentSecurityPolicy(): Plugin {
  return {
    name: 'content-security-policy',
    transformIndexHtml(_html, { server }) {
      if (server) return [];
      const policy = [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        // Images of posts may be on any server, and a preview is a blob.
        'img-src https: http: blob: data:',
        'connect-src *',
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
      ].join('; ');
      const attrs = { 'http-equiv': 'Content-Security-Policy', content: policy };
      return [{ tag: 'meta', attrs, injectTo: 'head-prepend' }];
    },
  };
}
