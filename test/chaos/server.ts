/**
 * One process of the chaos test: a whole server with an agent that talks by itself, or a projector. `CHAOS` contains
 * the process's `MemberSettings`. The process prints `ready` when it runs. It stops in an orderly way on SIGTERM, and
 * at once when its input ends.
 */
import { flushCompileCache } from 'node:module';
import { DriverRegistry } from '@liminal/agents';
import { createRuntime, startProjectorWorker } from '@liminal/runtime';
import { createLogger, createCredentials, createServer } from '@liminal/server';
import type { ResponseStore } from '@liminal/storage';
import { openPostgres } from '@liminal/storage/postgres';
import { openRedis } from '@liminal/storage/redis';
import type { MemberSettings } from './member.ts';
import { ScriptedTurnsAgent } from './scripted-turns-agent.ts';

const settings = JSON.parse(process.env['CHAOS'] ?? '{}') as MemberSettings;
const { leaseMs, root, port } = settings;
const logger = createLogger('warn', process.stderr);

process.stdin.resume().on('end', () => process.exit(1));
const close = await (settings.role === 'server' ? serve() : project());
process.once('SIGTERM', () => void close().then(() => process.exit(0)));
console.log('ready');
flushCompileCache();

async function openStorage() {
  const { store, blobs } = await openPostgres(settings.databaseUrl, { schema: settings.schema });
  const {
    log,
    coordination,
    close: closeLog,
  } = await openRedis({
    url: settings.redisUrl,
    prefix: settings.prefix,
    maxLength: 40,
    claimIdleMs: leaseMs,
  });
  const closeAll = async () => {
    await closeLog();
    await store.close();
  };
  return { log, store: traced(store), blobs, coordination, close: closeAll };
}

/** Logs changes of sessions' queues, so that a missing message can be traced. */
function traced(store: ResponseStore): ResponseStore {
  const saveSession: ResponseStore['saveSession'] = async (session) => {
    const { sessionId, fence, queue } = session;
    const waiting = queue.map(({ turnId, state }) => `${state} ${turnId}`);
    const begun = Date.now();
    const note = (how: string) => logger.warn({ sessionId, fence, waiting, begun }, how);
    try {
      await store.saveSession(session);
      note('stored');
    } catch (error) {
      note(`not stored: ${String(error)}`);
      throw error;
    }
  };
  return new Proxy(store, {
    get: (_, name) => {
      if (name === 'saveSession') return saveSession;
      const value: unknown = Reflect.get(store, name);
      return typeof value === 'function' ? value.bind(store) : value;
    },
  });
}

async function serve(): Promise<() => Promise<void>> {
  const storage = await openStorage();
  const drivers = new DriverRegistry();
  drivers.register(
    new ScriptedTurnsAgent((sessionId, turnId) => logger.warn({ sessionId, turnId }, 'delivered')),
  );
  const runtime = await createRuntime({
    storage,
    drivers,
    roots: [root],
    logger,
    settings: { cadenceMs: 10, heartbeatMs: 500, leaseMs, projects: settings.projects },
  });
  const { token } = settings;
  const hosts = { host: '127.0.0.1', allowedHosts: ['127.0.0.1'], allowedOrigins: [] };
  const server = await createServer({
    runtime,
    credentials: createCredentials(token),
    version: 'chaos',
    webDir: root,
    logger,
    ...hosts,
  });
  await server.listen({ host: '127.0.0.1', port });
  return async () => {
    await runtime.close();
    await server.close();
    await storage.close();
  };
}

async function project(): Promise<() => Promise<void>> {
  const storage = await openStorage();
  const worker = startProjectorWorker({ storage, logger, settings: { leaseMs } });
  return async () => {
    await worker.close();
    await storage.close();
  };
}
