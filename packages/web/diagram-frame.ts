import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const fileName = 'diagram-frame.html';

/**
 * Builds the page that draws diagrams (`src/diagram-frame`) as one file, since a page with an opaque origin can load no
 * other file of ours. The page is built again for each build, and once for `vite dev`.
 */
export function diagramFrame(): Plugin {
  return {
    name: 'diagram-frame',
    configureServer({ middlewares }) {
      let html: Promise<string> | undefined;
      middlewares.use(`/${fileName}`, (_, response, next) => {
        html ??= buildFrame();
        html.then((page) => {
          response.setHeader('content-type', 'text/html');
          response.end(page);
        }, next);
      });
    },
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName, source: await buildFrame() });
    },
  };
}

async function buildFrame(): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: ['chrome123', 'firefox128', 'safari17.5'],
      lib: { entry: join(root, 'src/diagram-frame/main.ts'), formats: ['iife'], name: 'frame' },
    },
  });
  const [{ output } = { output: [] }] = Array.isArray(built)
    ? built
    : 'output' in built
      ? [built]
      : [];
  const [chunk, ...others] = output;
  if (chunk?.type !== 'chunk' || others.length > 0) {
    throw new Error(
      'The page that draws diagrams must be built as one script, because it cannot load other files.',
    );
  }
  return page(chunk.code);
}

/**
 * Returns the page's HTML. The policy in the HTML applies in addition to the server's policy (`static.ts`), and allows
 * only this script.
 */
function page(code: string): string {
  // Escape the script, so that no text in it ends the script element.
  const script = code
    .replaceAll('\r', '')
    .replaceAll('</script', '<\\/script')
    .replaceAll('<!--', '<\\!--');
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Diagram</title>
</head>
<body>
<script>${script}</script>
</body>
</html>
`;
}
