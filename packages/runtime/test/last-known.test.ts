/** An agent's settings, commands and counts after the end of the server that ran the agent. */
import type { AgentCommand, ConfigOption, SessionInfo } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startServers } from './cluster/servers.ts';
import { startWorld, type World } from './harness.ts';

const model = (currentValue: string, more: string[] = []): ConfigOption => ({
  id: 'model',
  name: 'Model',
  category: 'model',
  currentValue,
  options: ['small', 'large', ...more].map((value) => ({ value, name: value })),
});
const commands: AgentCommand[] = [{ name: 'review', description: 'Reviews', hint: 'what' }];
const limit = { name: '5-hour limit', usedPercent: 40, resetsAt: '2099-01-01T00:00:00.000Z' };
const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.2, contextTokens: 15 };

const shown = ({ configOptions, commands, usage, limits, lastKnown }: SessionInfo) => ({
  model: configOptions.find(({ id }) => id === 'model')?.currentValue,
  configOptions,
  commands,
  usage,
  limits,
  lastKnown,
});

describe('after a restart', () => {
  let world: World;
  let sessionId: string;
  beforeEach(async () => {
    world = await startWorld();
    const { runtime, projectDir } = world;
    ({ sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir }));
  });
  afterEach(async () => world.end());

  const reported = { configOptions: [model('large')], commands, limits: [limit] };
  const turn = async ({ runtime, agent }: World) => {
    await runtime.send(sessionId, 'Hello');
    agent.emit(sessionId, { type: 'usage_update', usage });
    agent.finish(sessionId);
    await expect.poll(async () => (await runtime.info(sessionId)).session.state).toBe('idle');
  };
  const stored = async () => (await world.storage.store.getSession(sessionId))?.lastKnown;

  test.each(['close', 'crash'] as const)(
    'a session shows the last known settings, commands, usage and limits without starting an agent: %s',
    async (how) => {
      world.agent.update(sessionId, reported);
      await turn(world);
      await expect.poll(stored).toMatchObject({ values: { model: 'large' }, usage });
      const second = await world.restart(how);
      const info = await second.runtime.info(sessionId);
      expect(shown(info)).toEqual({ ...reported, model: 'large', usage, lastKnown: true });
      expect(info.session.isAlive).toBe(false);
    },
  );

  test('new reports of the agent replace the last known values', async () => {
    world.agent.update(sessionId, reported);
    await expect.poll(stored).toMatchObject({ values: { model: 'large' } });
    const { runtime, agent } = await world.restart();
    await runtime.info(sessionId);
    await runtime.send(sessionId, 'Go on.');
    await expect.poll(() => agent.received).toEqual(['Go on.']);
    agent.update(sessionId, { configOptions: [model('small', ['huge'])] });
    const now = async () => shown(await runtime.info(sessionId));
    await expect.poll(now).toMatchObject({ configOptions: [model('small', ['huge'])], commands });
    expect((await now()).lastKnown).toBeUndefined();
    expect((await runtime.info(sessionId)).session.isAlive).toBe(true);
  });

  test('a fork shows the settings and commands of its original before its agent starts', async () => {
    world.agent.update(sessionId, reported);
    await turn(world);
    await expect.poll(stored).toMatchObject({ values: { model: 'large' } });
    const fork = await world.runtime.fork(sessionId);
    const info = await world.runtime.info(fork.sessionId);
    expect(shown(info)).toEqual({
      configOptions: [model('large')],
      commands,
      model: 'large',
      lastKnown: true,
    });
    expect(info.session.isAlive).toBe(false);
  });

  test('usage of a turn that the crash cut off is included', async () => {
    world.agent.update(sessionId, reported);
    await turn(world);
    await expect.poll(stored).toMatchObject({ usage });
    const { turnId } = await world.runtime.send(sessionId, 'More');
    const later = { ...usage, contextTokens: 99 };
    world.agent.emit(sessionId, { type: 'usage_update', usage: later });
    await expect
      .poll(() => JSON.stringify(world.medium.acknowledged.get(turnId)))
      .toContain('"contextTokens":99');
    const second = await world.restart();
    expect((await second.runtime.info(sessionId)).usage).toEqual(later);
  });

  test('a limit that was reset since is not shown', async () => {
    const past = { name: 'Weekly limit', isReached: true, resetsAt: '2020-01-01T00:00:00.000Z' };
    world.agent.update(sessionId, { limits: [limit, past] });
    await turn(world);
    const second = await world.restart('close');
    expect((await second.runtime.info(sessionId)).limits).toEqual([limit]);
  });

  test('settings are stored only when they change; sessions share them', async () => {
    const save = vi.spyOn(world.storage.store, 'saveSession');
    world.agent.update(sessionId, reported);
    await expect.poll(stored).toMatchObject({ values: { model: 'large' } });
    const before = save.mock.calls.length;
    for (let at = 0; at < 5; at += 1) world.agent.update(sessionId, reported);
    world.agent.update(sessionId, { configOptions: [model('small')], commands });
    await expect.poll(stored).toMatchObject({ values: { model: 'small' } });
    expect(save.mock.calls.length).toBe(before + 1);
    const { runtime, projectDir, agent } = world;
    const other = await runtime.createSession({ cliType: 'scripted', projectDir });
    agent.update(other.sessionId, reported);
    const offersOf = async (id: string) =>
      (await world.storage.store.getSession(id))?.lastKnown?.offers;
    await expect.poll(() => offersOf(other.sessionId)).toBeDefined();
    expect(await offersOf(other.sessionId)).toBe(await offersOf(sessionId));
  });

  test('values that are too long for a record are not stored, but all others are', async () => {
    const long = { ...model('large'), id: 'long', currentValue: 'x'.repeat(30_000) };
    world.agent.update(sessionId, { ...reported, configOptions: [long] });
    await turn(world);
    const second = await world.restart('close');
    const info = shown(await second.runtime.info(sessionId));
    expect(info).toMatchObject({ configOptions: [], usage, limits: [limit] });
    expect(JSON.stringify(await second.storage.store.getSession(sessionId)).length).toBeLessThan(
      2_000,
    );
  });

  test('a session whose stored settings are damaged is shown without them', async () => {
    world.agent.update(sessionId, reported);
    await turn(world);
    await expect.poll(stored).toMatchObject({ values: { model: 'large' } });
    const second = await world.restart('close');
    vi.spyOn(second.storage.blobs, 'get').mockRejectedValue(new Error('damaged'));
    expect(shown(await second.runtime.info(sessionId))).toMatchObject({ commands: [], usage });
  });
});

test('in a cluster, a server that takes a session shows the last known values before and after that', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const { projectDir } = servers;
  const { sessionId } = await a.runtime.createSession({ cliType: 'scripted', projectDir });
  a.agent.update(sessionId, { configOptions: [model('large')], commands });
  await expect
    .poll(async () => (await servers.store.getSession(sessionId))?.lastKnown?.values)
    .toEqual({ model: 'large' });
  await a.runtime.close();
  const known = { configOptions: [model('large')], commands, lastKnown: true };
  expect(await b.runtime.info(sessionId)).toMatchObject(known);
  await b.runtime.rename(sessionId, 'New');
  expect(await b.runtime.info(sessionId)).toMatchObject({
    ...known,
    session: { title: 'New', isAlive: false },
  });
});
