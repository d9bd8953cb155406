import { defineConfig } from 'vite';

/** The api serves the files of `dist` under /studio. `npm run dev` expects it at API (default: the Compose stack). */
export default defineConfig({
  base: '/studio/',
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Inlined files would be data: URLs, which the content security policy refuses for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  worker: { format: 'es' },
  server: { proxy: { '/v1': process.env['API'] ?? 'http://127.0.0.1:8080' } },
});
