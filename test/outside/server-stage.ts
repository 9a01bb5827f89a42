import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import type { UpsertObject } from '@liminal/protocol';
import { createRuntime, type Runtime } from '@liminal/runtime';
import { acpAgent, type AgentScript, makeWorkspace } from '@liminal/testkit';
import { expect, onTestFinished } from 'vitest';
import { openMedium } from '../../packages/runtime/test/medium.ts';
import { Reader } from '../../packages/runtime/test/reader.ts';

/** Creates a scripted ACP agent that ends with the test, and the drivers of this agent. */
export async function scriptedAgent(script: AgentScript) {
  const { projectDir, remove } = await makeWorkspace({});
  const { command, args, env, control } = await acpAgent(script);
  onTestFinished(async () => {
    await control.close();
    await remove();
  });
  const names = { cliType: 'scripted', name: 'Scripted', description: 'Plays a script.' };
  return { control, projectDir, provide: () => new AcpDriver({ ...names, command, args, env }) };
}

/**
 * Creates a server whose agent is also used by other programs. The server is a runtime with one provider, on a store
 * that still exists after restarts of the server.
 */
export async function serverStage(projectDir: string, provide: () => AgentDriver) {
  const medium = openMedium('memory');
  const storage = await medium.open();
  const warnings: string[] = [];
  let cliType = '';
  const start = async (): Promise<Runtime> => {
    const drivers = new DriverRegistry();
    const provider = provide();
    ({ cliType } = provider);
    drivers.register(provider);
    const note = (details: object, text: string) =>
      void warnings.push(`${text} ${JSON.stringify(details)}`);
    const logger = { info: () => undefined, warn: note, error: note };
    return createRuntime({ storage, drivers, roots: [projectDir], logger });
  };
  let runtime = await start();
  onTestFinished(async () => {
    await runtime.close();
    await storage.close();
    medium.remove();
  });
  return {
    warnings,
    get cliType() {
      return cliType;
    },
    get runtime() {
      return runtime;
    },
    /** Stops the server and starts it again on the same store. While the server is stopped, `between` runs. */
    async restart(between?: () => Promise<void>) {
      await runtime.close();
      await between?.();
      runtime = await start();
    },
    async create(): Promise<string> {
      const { sessionId } = await runtime.createSession({ cliType, projectDir });
      return sessionId;
    },
    /** Returns the id that the agent itself uses for a session. */
    async agentSession(sessionId: string): Promise<string> {
      return (await storage.store.getSession(sessionId))?.agentSessionId ?? sessionId;
    },
    /** Returns all stored data of a session's turns, as JSON. */
    async stored(sessionId: string): Promise<string> {
      const runs = (await storage.store.listRuns(sessionId)) ?? [];
      return JSON.stringify(await Promise.all(runs.map(({ id }) => storage.store.getResponse(id))));
    },
    /** Plays one turn in Liminal until the turn has ended. */
    async runTurn(sessionId: string, message: string): Promise<void> {
      const reader = new Reader(runtime, sessionId);
      await reader.untilType('session:info');
      const { turnId } = await runtime.send(sessionId, message);
      await reader.until((one) => isComplete(one, turnId));
      reader.close();
      await idle(runtime, sessionId);
    },
    watch(sessionId: string, cursor?: string): Reader {
      return new Reader(runtime, sessionId, { cursor });
    },
    /** Returns the texts in history with their roles. Each item is returned once. */
    async history(sessionId: string): Promise<string[]> {
      const { entries } = await runtime.history(sessionId);
      return entries.flatMap(words);
    },
  };
}

/**
 * If a turn ends while its reader is still reading older messages, the reader gets the turn's end in its history,
 * without a separate message.
 */
const isComplete = (reader: Reader, turnId: string): boolean =>
  reader
    .ofType('session:turn')
    .some(({ payload }) => payload.type === 'turn_complete' && payload.turnId === turnId) ||
  reader
    .ofType('session:history')
    .some(({ turns }) => turns.some((one) => one.turnId === turnId && one.status === 'complete'));

export const words = (item: UpsertObject): string[] =>
  item.type === 'message' ? [`${item.origin}: ${item.content}`] : [];

/** Resolves when the session is idle. A turn that is shown as ended may not be in history before that. */
export async function idle(runtime: Runtime, sessionId: string): Promise<void> {
  await expect.poll(async () => (await runtime.status(sessionId)).state).toBe('idle');
}
