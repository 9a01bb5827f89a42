/** A whole server on SQLite whose one agent is the source. `node source-server.ts DATA_DIR CADENCE_MS`; prints its port. With `--expose-gc`, SIGUSR2 makes it print its heap. */
import { ProviderRegistry } from '@liminal/agents';
import { createRuntime } from '@liminal/runtime';
import { createServer } from '@liminal/server';
import { openSqliteStorage } from '@liminal/storage';
import { SourceAgent } from './source-agent.ts';
import { token } from './token.ts';

const [dataDir = '', cadence = '33'] = process.argv.slice(2);
const providers = new ProviderRegistry();
providers.register(new SourceAgent());
const quiet = { info() {}, warn() {}, error: console.error };
const runtime = await createRuntime({
  storage: await openSqliteStorage(dataDir),
  providers,
  roots: [dataDir],
  logger: quiet,
  settings: { cadenceMs: Number(cadence) },
});
const server = await createServer({
  runtime,
  version: 'bench',
  webDir: dataDir,
  token,
  host: '127.0.0.1',
  allowedHosts: [],
  allowedOrigins: [],
});
console.log(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
process.once('SIGTERM', () => process.exit(0));
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  console.log(process.memoryUsage().heapUsed);
});
