/**
 * A whole server on SQLite (or, if `BENCH_REDIS` and `BENCH_DATABASE` are set, on a Redis and a PostgreSQL) with
 * scripted agents: `source` plays Claude Code’s stream, and `acp` plays the stream of an ACP agent for the FLOODS
 * (JSON). `node source-server.ts DATA_DIR CADENCE_MS [FLOODS]` prints the server's port. `BENCH_WEB` is the path of a
 * built web app, which the server then serves. `BENCH_AGENT` (JSON: command, args) adds another ACP agent with the name
 * `named`. `BENCH_MODEL` is the address of a model server, which is added with the name `model`. `BENCH_CLAUDE` adds
 * Claude Code, and `BENCH_DEMO` adds the demo. OpenTelemetry’s variables make the server send spans. After SIGUSR1, the
 * server prints the event loop’s longest stall since the last signal, in ms. With `--expose-gc`, the server prints
 * after SIGUSR2 how many bytes it uses, including buffers.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DriverRegistry } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { DemoDriver } from '@liminal/agents/demo';
import { createModelDrivers } from '@liminal/agents/models';
import { OpenAiClient } from '@liminal/agents/openai';
import { builtInTools } from '@liminal/agents/tools';
import { createRuntime } from '@liminal/runtime';
import { createCredentials, createServer } from '@liminal/server';
import { type OpenedStorage } from '@liminal/storage';
import { openPostgres } from '@liminal/storage/postgres';
import { openRedis } from '@liminal/storage/redis';
import { openSqliteStorage } from '@liminal/storage/sqlite';
import { telemetryConfig } from '../../packages/cli/src/config/telemetry.ts';
import { startTelemetry } from '../../packages/cli/src/telemetry/start-telemetry.ts';
import './print-used.ts';
import { floodingAgent, type Flood } from './acp-source.ts';
import { sourceProgram } from './source-program.ts';
import { token } from './token.ts';

const [dataDir = '', cadence = '33', floods] = process.argv.slice(2);
const scripted =
  floods === undefined ? undefined : await floodingAgent(JSON.parse(floods) as Flood[]);
const drivers = new DriverRegistry();
const source = new ClaudeDriver({ program: await sourceProgram(dataDir) });
const open = source.open.bind(source);
drivers.register(
  Object.assign(source, {
    cliType: 'source',
    // Claude Code has no transcript of a session that a figure has stored, so the session's agent starts a new session
    // of Claude Code.
    open: async (opening: Parameters<typeof open>[0]) => {
      const { earlier: _, ...anew } = opening;
      return open(anew);
    },
  }),
);
if (scripted !== undefined) {
  const { command, args, env } = scripted;
  const names = { cliType: 'acp', name: 'Scripted', description: 'Plays chunks.' };
  drivers.register(new AcpDriver({ ...names, command, args, env }));
}
const { BENCH_AGENT: named } = process.env;
if (named !== undefined) {
  const agent = JSON.parse(named) as { command: string; args: string[] };
  const names = { cliType: 'named', name: 'Named', description: 'Says what it was given.' };
  drivers.register(new AcpDriver({ ...names, ...agent, env: {} }));
}
const { BENCH_MODEL: baseUrl } = process.env;
if (baseUrl !== undefined) {
  const client = new OpenAiClient({ baseUrl, api: 'responses' });
  const servers = [{ name: 'model', title: 'Scripted', client, model: 'bench' }];
  for (const one of createModelDrivers({ servers, tools: builtInTools() })) drivers.register(one);
}
if (process.env['BENCH_DEMO'] !== undefined) drivers.register(new DemoDriver());
if (process.env['BENCH_CLAUDE'] !== undefined) drivers.register(new ClaudeDriver());
const quiet = { info() {}, warn() {}, error: console.error };
const wanted = telemetryConfig({}, (name) => process.env[name]);
const telemetry = await startTelemetry(wanted, quiet, 'server');
const traced = telemetry && { tracing: telemetry.tracing };
const runtime = await createRuntime({
  storage: await openStorage(),
  drivers,
  roots: [dataDir],
  logger: quiet,
  settings: { cadenceMs: Number(cadence) },
  ...traced,
});
const server = await createServer({
  runtime,
  version: 'bench',
  webDir: process.env['BENCH_WEB'] ?? dataDir,
  credentials: createCredentials(token),
  host: '127.0.0.1',
  allowedHosts: [],
  allowedOrigins: [],
  ...traced,
});
const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }));
process.once('SIGTERM', () => void end());
const delays = monitorEventLoopDelay({ resolution: 5 });
process.on('SIGUSR1', () => {
  // Enable the measurement only at the first signal, because measuring uses about a hundredth of a core.
  delays.enable();
  console.log(delays.max / 1e6);
  delays.reset();
});
console.log(port);

async function openStorage(): Promise<OpenedStorage> {
  const { BENCH_REDIS: url, BENCH_DATABASE: database } = process.env;
  if (url === undefined || database === undefined) return openSqliteStorage(dataDir);
  const { store, blobs } = await openPostgres(database);
  return { ...(await openRedis({ url })), store, blobs };
}

async function end(): Promise<void> {
  await runtime.close();
  await scripted?.control.close();
  await telemetry?.close();
  process.exit(0);
}
