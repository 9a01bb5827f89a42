// Starts a server on nothing and ends it, so that the compile cache has all that a start loads.
import './compile-cache.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Not among the imports above: those are all compiled before the first of them, the cache, is there.
await import('../src/program.ts');
await import('../src/commands/serve.ts');
const { loadConfig } = await import('../src/config/load.ts');
const { startLiminal } = await import('../src/start-liminal.ts');

const home = mkdtempSync(join(tmpdir(), 'liminal-compile-'));
const config = loadConfig({ port: '0' }, { env: {}, cwd: home, home });
const server = await startLiminal({ ...config, logLevel: 'error' });
await fetch(`${server.url}/healthz`);
await server.close();
rmSync(home, { recursive: true });
