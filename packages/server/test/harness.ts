/**
 * Starts a real server on a real runtime, with the demo, a scripted agent and storage in memory. Each server has its
 * own port and folder.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverRegistry } from '@liminal/agents';
import { DemoDriver } from '@liminal/agents/demo';
import { createRuntime, type Runtime } from '@liminal/runtime';
import {
  createCredentials,
  createServer,
  listen,
  Metrics,
  type ServerOptions,
} from '@liminal/server';
import type { OpenedStorage } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { ScriptedProvider } from './scripted-provider.ts';

export const token = 'a-token-of-the-tests';
export const bearer = { authorization: `Bearer ${token}` };

export interface TestServer {
  app: FastifyInstance;
  runtime: Runtime;
  agent: ScriptedProvider;
  port: number;
  /** The server's URL, without a trailing slash. */
  url: string;
  /** An allowed project folder. Its subfolder `.liminal` is hidden, like the data folder. */
  folder: string;
  close(): Promise<void>;
}

export async function startServer(
  options: Partial<ServerOptions> = {},
  storage: OpenedStorage = openMemoryStorage(),
  addresses: readonly string[] = ['127.0.0.1'],
): Promise<TestServer> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-server-')));
  const drivers = new DriverRegistry();
  const agent = new ScriptedProvider();
  drivers.register(agent);
  drivers.register(new DemoDriver());
  const silent = { info() {}, warn() {}, error() {} };
  const metrics = new Metrics();
  const runtime = await createRuntime({
    storage,
    drivers,
    roots: [folder],
    hiddenFolders: [join(folder, '.liminal')],
    logger: silent,
    meter: metrics,
  });
  const app = await createServer({
    runtime,
    metrics,
    credentials: createCredentials(token),
    version: '1.2.3',
    webDir: join(folder, 'web'),
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    checkAnswers: true,
    ...options,
  });
  const url = await listen(app, { host: 'localhost', port: 0 }, async () =>
    addresses.map((address) => ({ address })),
  );
  const close = async () => {
    await runtime.close();
    await app.close();
    await storage.close();
    rmSync(folder, { recursive: true });
  };
  return { app, runtime, agent, port: Number(new URL(url).port), url, folder, close };
}

/** `expect.poll` with enough time for a busy machine. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: 60_000 });
}
