import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DriverRegistry } from '@liminal/agents';
import { openMemoryStorage } from '@liminal/storage/memory';
import { expect, onTestFinished, test } from 'vitest';
import { ask, ownRedis } from '../../packages/storage/test/redis-stage.ts';
import { createRuntime } from '@liminal/runtime';
import { Reader } from '../../packages/runtime/test/reader.ts';
import { ScriptedAgent } from '../../packages/runtime/test/scripted-agent.ts';

test('SAFE: if Redis loses all data during a turn, readers on every server get the turn’s end, and the session continues', async () => {
  const { redis, open } = await ownRedis();
  const { store, blobs } = openMemoryStorage();
  const projectDir = await realpath(await mkdtemp(join(tmpdir(), 'liminal-flushed-')));
  onTestFinished(async () => rm(projectDir, { recursive: true }));
  const agent = new ScriptedAgent();
  const start = async () => {
    const drivers = new DriverRegistry();
    drivers.register(agent);
    const { log, coordination } = await open();
    const runtime = await createRuntime({
      storage: { log, coordination, store, blobs },
      drivers,
      roots: [projectDir],
      settings: { cadenceMs: 0, heartbeatMs: 0, leaseMs: 10_000 },
      logger: { info() {}, warn() {}, error() {} },
    });
    onTestFinished(async () => runtime.close());
    return runtime;
  };
  const [owner, other] = [await start(), await start()];
  const { sessionId } = await owner.createSession({ cliType: 'scripted', projectDir });
  const readers = [owner, other].map((runtime) => new Reader(runtime, sessionId));
  for (const reader of readers) await reader.untilType('session:history');
  await owner.send(sessionId, 'Hello');
  agent.text(sessionId, 'said', 'Before.');
  for (const reader of readers) {
    await reader.until(({ items }) => JSON.stringify([...items.values()]).includes('Before.'));
  }
  await ask(redis, 'FLUSHALL');
  agent.emit(sessionId, { type: 'item_delta', itemId: 'said', deltaContent: ' After.' });
  agent.finish(sessionId);
  // The events are lost, so readers get the end of the turn from history.
  for (const reader of readers) {
    await reader.until(({ messages }) =>
      messages.some(
        (message) =>
          (message.type === 'session:history' && message.turns.at(-1)?.status === 'complete') ||
          (message.type === 'session:turn' && message.payload.type === 'turn_complete'),
      ),
    );
    expect(JSON.stringify([...reader.items.values()])).toContain('Before. After.');
  }
  await owner.send(sessionId, 'And on');
  agent.finish(sessionId);
  for (const reader of readers) await reader.untilTurn('turn_complete');
  for (const reader of readers) reader.close();
});
