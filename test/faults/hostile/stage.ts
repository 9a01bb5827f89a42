import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentDriver, DriverRegistry } from '@liminal/agents';
import { AcpDriver } from '@liminal/agents/acp';
import { HistoryPage, Response } from '@liminal/protocol';
import { createRuntime, type Runtime } from '@liminal/runtime';
import { openSqliteStorage } from '@liminal/storage/sqlite';
import { acpAgent, makeWorkspace } from '@liminal/testkit';
import { expect, onTestFinished } from 'vitest';
import { Reader } from '../../../packages/runtime/test/reader.ts';

/** Unhandled rejections, which are also reported. */
const unhandled: unknown[] = [];

/**
 * Starts a server on SQLite with a hostile agent and a well-behaved agent. Both agents and the server end with the
 * test.
 */
export async function hostileStage(hostile: AgentDriver) {
  const { projectDir, remove } = await makeWorkspace({});
  const healthy = await acpAgent({ turns: [{ steps: [{ say: 'I am well.' }] }] });
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-hostile-'));
  const storage = await openSqliteStorage(dataDir);
  const drivers = new DriverRegistry();
  drivers.register(hostile);
  const { command, args, env } = healthy;
  const names = { cliType: 'healthy', name: 'Healthy', description: 'Answers.' };
  drivers.register(new AcpDriver({ ...names, command, args, env, sharedProcess: true }));
  const warnings: string[] = [];
  const note = (details: object, text: string): void => {
    // Notices of agents are also logged. They are not warnings.
    if (!('cliType' in details)) warnings.push(`${text} ${JSON.stringify(details)}`);
  };
  const logger = { info: () => undefined, warn: note, error: note };
  const runtime = await createRuntime({ storage, drivers, roots: [projectDir], logger });
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(async () => {
    process.off('unhandledRejection', onUnhandled);
    await runtime.close();
    await storage.close();
    await healthy.control.close();
    await rm(dataDir, { recursive: true });
    await remove();
  });

  const create = async (cliType: string) =>
    (await runtime.createSession({ cliType, projectDir })).sessionId;
  // These sessions keep the agents' processes running, because a process ends together with its last session.
  await Promise.all(['healthy', hostile.cliType].map(create));

  return {
    runtime,
    create: () => create(hostile.cliType),
    /** Plays a turn in another session at the same time. */
    async others(): Promise<void> {
      const sessionId = await create('healthy');
      const turn = await startTurn(runtime, sessionId, 'How are you?');
      expect(await turn.ended()).toMatchObject({ type: 'turn_complete' });
      expect([...turn.reader.items.values()]).toContainEqual(
        expect.objectContaining({ content: 'I am well.' }),
      );
      turn.reader.close();
      await runtime.kill(sessionId);
    },
    /** Returns how many characters a session's stored JSON has. The stored text must be valid JSON. */
    async stored(sessionId: string): Promise<number> {
      const runs = (await storage.store.listRuns(sessionId)) ?? [];
      const all = await Promise.all(runs.map(({ id }) => storage.store.getResponse(id)));
      for (const run of all) {
        expect(Response.safeParse(run).error?.issues.slice(0, 3)).toBeUndefined();
      }
      return JSON.stringify(all).length;
    },
    /** Checks that there were no unhandled rejections and no warnings during the test. */
    expectCalm(): void {
      expect(unhandled.splice(0)).toEqual([]);
      expect(warnings.splice(0)).toEqual([]);
    },
  };
}

/** Sends a message. As soon as its turn has begun, returns the reader of the turn. */
export async function startTurn(runtime: Runtime, sessionId: string, message: string) {
  const reader = new Reader(runtime, sessionId);
  await reader.untilType('session:info');
  const { turnId } = await runtime.send(sessionId, message);
  const told = () =>
    reader
      .ofType('session:turn')
      .flatMap(({ payload }) => (payload.turnId === turnId ? payload : []));
  await reader.until(() => told().length > 0);
  const end = () => told().find(({ type }) => type !== 'turn_started');
  return {
    turnId,
    reader,
    /** Returns the turn's status as soon as the turn is in history. */
    async ended() {
      await reader.until(() => end() !== undefined);
      await expect.poll(async () => (await runtime.status(sessionId)).state).not.toBe('running');
      return end();
    },
  };
}

/** Returns a session's history as JSON. Checks the schema and the size of each page. */
export async function historyOf(runtime: Runtime, sessionId: string): Promise<string> {
  const pages: string[] = [];
  for (let before: string | undefined; ;) {
    const page = await runtime.history(sessionId, { before });
    const json = JSON.stringify(page);
    expect(HistoryPage.safeParse(JSON.parse(json)).error?.issues.slice(0, 3)).toBeUndefined();
    expect(page.entries.length).toBeLessThanOrEqual(200);
    // A page may contain one item of 16 Mi characters, each of which may take six characters in JSON.
    expect(json.length).toBeLessThan(100 * 1024 * 1024);
    pages.unshift(json);
    if (!page.hasMore) return pages.join('\n');
    expect(page.before).not.toBe(before);
    before = page.before;
  }
}
