import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressAssets } from './compress-assets.ts';
import { diagramFrame } from './diagram-frame.ts';

/** The server and its token for `vite dev`, since a page on another port is not signed in. */
const server = process.env.LIMINAL_URL ?? 'http://127.0.0.1:4747';
const headers = { authorization: `Bearer ${process.env.LIMINAL_TOKEN ?? ''}` };

export default defineConfig({
  plugins: [react(), diagramFrame(), compressAssets()],
  build: {
    // Current browsers: features that they all have (light-dark(), nesting, Map.groupBy) are not translated.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Fonts and images stay files, because the page's policy allows no data URLs in styles.
    assetsInlineLimit: 0,
    // Grammars for highlighting are large, and each loads when first needed.
    chunkSizeWarningLimit: 800,
  },
  // Workers load their parts when first needed, as the page does.
  worker: { format: 'es' },
  server: {
    proxy: {
      '/api': { target: server, headers },
      '/ws': { target: server.replace(/^http/, 'ws'), ws: true, headers },
    },
  },
});
