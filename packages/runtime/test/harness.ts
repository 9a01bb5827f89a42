import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import type { OpenedStorage } from '@liminal/storage';
import type { Logger, Meter, Runtime, RuntimeSettings } from '../src/index.ts';
import { createRuntime } from '../src/index.ts';
import type { WitnessedMedium } from './medium.ts';
import { openMedium } from './medium.ts';
import { ScriptedAgent } from './scripted-agent.ts';

export interface World {
  runtime: Runtime;
  agent: ScriptedAgent;
  medium: WitnessedMedium;
  storage: OpenedStorage;
  projectDir: string;
  warnings: string[];
  /** The next server on the same medium, after this server has crashed or was shut down. */
  restart(how?: 'crash' | 'close'): Promise<World>;
  /** Ends this world, or the world after its last restart. */
  end(): Promise<void>;
}

export async function startWorld(
  settings: Partial<RuntimeSettings> = {},
  kept: {
    medium?: WitnessedMedium;
    projectDir?: string;
    agents?: () => AgentDriver[];
    meter?: Meter;
    logger?: Logger;
  } = {},
): Promise<World> {
  const medium = kept.medium ?? openMedium('memory');
  const projectDir =
    kept.projectDir ?? (await realpath(await mkdtemp(join(tmpdir(), 'liminal-runtime-'))));
  const storage = await medium.open();
  const agent = new ScriptedAgent();
  const drivers = new DriverRegistry();
  drivers.register(agent);
  for (const provider of kept.agents?.() ?? []) drivers.register(provider);
  const warnings: string[] = [];
  const note = (_details: object, message: string): void => void warnings.push(message);
  const runtime = await createRuntime({
    storage,
    drivers,
    roots: [projectDir],
    settings: { cadenceMs: 0, heartbeatMs: 0, ...settings },
    meter: kept.meter,
    logger: kept.logger ?? { info: () => {}, warn: note, error: note },
  });
  let next: World | undefined;
  const shutDown = async (): Promise<void> => {
    await runtime.close();
    await storage.close();
  };
  return {
    runtime,
    agent,
    medium,
    storage,
    projectDir,
    warnings,
    restart: async (how = 'crash') => {
      await (how === 'crash' ? medium.crash() : shutDown());
      next = await startWorld(settings, { ...kept, medium, projectDir });
      return next;
    },
    end: async () => {
      if (next) return next.end();
      await shutDown();
      medium.remove();
      await rm(projectDir, { recursive: true, force: true });
    },
  };
}
export { Reader } from './reader.ts';
