import { defineConfig } from 'vite';

export default defineConfig({
  // The port of the service's default FRONTEND_URL: links in emails lead here. On another port they would not work.
  server: { host: 'localhost', port: 5173, strictPort: true },
  preview: { host: 'localhost', port: 5173, strictPort: true },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
