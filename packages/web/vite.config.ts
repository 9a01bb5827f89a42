import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressAssets } from './compress-assets.ts';
import { diagramFrame } from './diagram-frame.ts';

/** The address of the server for `vite dev`, and the server's token: a page on another port is not signed in. */
const server = process.env.LIMINAL_URL ?? 'http://127.0.0.1:4747';
const headers = { authorization: `Bearer ${process.env.LIMINAL_TOKEN ?? ''}` };

export default defineConfig({
  plugins: [react(), diagramFrame(), compressAssets()],
  build: {
    // The build targets current browsers, so it leaves features that all of them have as they are (light-dark(),
    // nesting, Map.groupBy).
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Fonts and images remain files, because the page's policy forbids data URLs in styles.
    assetsInlineLimit: 0,
    // The grammars for highlighting are large, but each grammar loads only when the page first needs it.
    chunkSizeWarningLimit: 800,
  },
  // Workers load their modules on first use, as the page does.
  worker: { format: 'es' },
  server: {
    proxy: {
      '/api': { target: server, headers },
      '/ws': { target: server.replace(/^http/, 'ws'), ws: true, headers },
    },
  },
});
