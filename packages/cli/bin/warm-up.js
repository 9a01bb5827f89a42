// Starts and stops an empty server, so that the compile cache has everything that a start loads.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../src/program.ts';
import '../src/commands/serve.ts';
import { loadConfig } from '../src/config/load.ts';
import { startLiminal } from '../src/start-liminal.ts';

const home = mkdtempSync(join(tmpdir(), 'liminal-warm-up-'));
const config = loadConfig({ port: '0' }, { env: {}, cwd: home, home });
const server = await startLiminal({ ...config, logLevel: 'error' });
await fetch(`${server.url}/healthz`);
await server.close();
rmSync(home, { recursive: true });
