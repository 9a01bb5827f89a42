import { randomUUID } from 'node:crypto';
import type { StoredTurn } from '@liminal/agents';
import { ProviderError } from '@liminal/agents';
import type { ContentBlock } from '@liminal/protocol';
import { StorageError } from '@liminal/storage';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { type Driver, openMedium } from './medium.ts';

/** The notice in a fork after whose last turn later turns have changed files. */
const filesAreNewer = (title: string) =>
  `The fork begins here. The files in the project folder include changes by later turns of “${title}”, which the agent does not know: tell it what it needs.`;

let world: World;
let sessionId: string;

async function begin(driver: Driver = 'memory'): Promise<void> {
  world = await startWorld({}, { medium: openMedium(driver) });
  const { cliType, projectDir } = { cliType: 'scripted', projectDir: world.projectDir };
  ({ sessionId } = await world.runtime.createSession({ cliType, projectDir }));
}
afterEach(async () => world.end());

/** A complete turn, in history when this resolves. */
async function turn(text: string, id = sessionId, blocks: ContentBlock[] = []): Promise<string> {
  const { turnId } = await world.runtime.send(id, text, undefined, { blocks });
  world.agent.text(id, `${turnId}-a`, `Re: ${text}`);
  world.agent.finish(id);
  await expect.poll(async () => (await world.runtime.status(id)).state).toBe('idle');
  return turnId;
}

async function turns(...texts: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const text of texts) ids.push(await turn(text));
  return ids;
}

async function historyTexts(id: string): Promise<string[]> {
  const { entries } = await world.runtime.history(id);
  return entries.map((entry) => ('content' in entry ? String(entry.content) : entry.type));
}

describe.each(['memory', 'sqlite'] as const)('a fork, stored in %s,', (driver) => {
  beforeEach(() => begin(driver));

  test('has the conversation up to its turn, with new ids; both sessions continue, also after a restart', async () => {
    const [, second] = await turns('1', '2', '3', '4');

    const fork = await world.runtime.fork(sessionId, { turnId: second });
    expect(fork).toEqual({ sessionId: expect.any(String), cliType: 'scripted' });
    world = await world.restart();

    const both = ['1', 'Re: 1', '2', 'Re: 2', filesAreNewer('1')];
    expect(await historyTexts(fork.sessionId)).toEqual(both);
    const page = await world.runtime.history(fork.sessionId);
    const original = await world.runtime.history(sessionId);
    const idsOf = (one: typeof page) => one.turns.map(({ turnId }) => turnId);
    expect(new Set(idsOf(page)).isDisjointFrom(new Set(idsOf(original)))).toBe(true);
    for (const one of page.turns)
      expect(one).toMatchObject({ status: 'complete', runId: one.turnId });
    const { session } = await world.runtime.info(fork.sessionId);
    expect(session).toMatchObject({
      title: 'Fork of 1',
      active: true,
      forkedFrom: { sessionId, turnId: second, title: '1' },
    });
    await turn('5', fork.sessionId);
    await turn('6');
    expect(await historyTexts(fork.sessionId)).toEqual([...both, '5', 'Re: 5']);
    expect((await historyTexts(sessionId)).slice(-4)).toEqual(['4', 'Re: 4', '6', 'Re: 6']);
  });

  test('has the settings that the agent has changed by itself, as by a command', async () => {
    const option = (currentValue: string) => ({
      id: 'thinking',
      name: 'Thinking',
      category: 'thought_level',
      currentValue,
      options: [],
    });
    await turns('1');
    world.agent.update(sessionId, { configOptions: [option('default')] });
    const stored = async () => world.storage.store.getSession(sessionId);
    await expect.poll(stored).toMatchObject({ lastKnown: { values: { thinking: 'default' } } });
    world.agent.update(sessionId, { configOptions: [option('high')] });
    await expect.poll(stored).toMatchObject({ lastKnown: { values: { thinking: 'high' } } });
    const fork = await world.runtime.fork(sessionId, {});
    await turn('2', fork.sessionId);
    expect(world.agent.configs.at(-1)).toEqual({ thinking: 'high' });
  });

  test('holds its files as long as it exists', async () => {
    const resource = { uri: 'notes.md', mimeType: 'text/markdown', text: '# Notes' };
    await turn('Read this.', sessionId, [{ type: 'resource', resource }]);
    const fork = await world.runtime.fork(sessionId, {});
    const page = JSON.stringify(await world.runtime.history(fork.sessionId));
    const [hash = ''] = /(?<=blob:)[0-9a-f]{64}/.exec(page) ?? [];

    await world.storage.store.deleteSession(sessionId);
    expect(Buffer.from((await world.runtime.getBlob(hash)).bytes).toString()).toBe('# Notes');

    await world.storage.store.deleteSession(fork.sessionId);
    await expect(world.runtime.getBlob(hash)).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND' });
  });
});

describe('a fork', () => {
  beforeEach(() => begin());

  test('ends by default after the last finished turn, while the next turn runs', async () => {
    const [, last] = await turns('1', '2');
    const { turnId: running } = await world.runtime.send(sessionId, '3');

    const fork = await world.runtime.fork(sessionId);
    expect(world.agent.forks).toEqual([last]);
    const both = ['1', 'Re: 1', '2', 'Re: 2', filesAreNewer('1')];
    expect(await historyTexts(fork.sessionId)).toEqual(both);
    await expect(world.runtime.fork(sessionId, { turnId: running })).rejects.toMatchObject({
      code: 'TURN_IN_PROGRESS',
    });

    world.agent.finish(sessionId);
    const reader = await new Reader(world.runtime, sessionId).untilType('session:history');
    expect([...reader.items.values()].at(-1)).toMatchObject({ content: '3' });
  });

  test('can be created as soon as its turn has ended, before the turn is in history', async () => {
    const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
    const stored = Promise.withResolvers<void>();
    const { saveResponse } = world.storage.store;
    world.storage.store.saveResponse = async (response) => {
      await stored.promise;
      return saveResponse.call(world.storage.store, response);
    };
    const { turnId } = await world.runtime.send(sessionId, '1');
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete');

    const fork = await world.runtime.fork(sessionId, { turnId });
    expect(await historyTexts(fork.sessionId)).toEqual(['1']);
    stored.resolve();
  });

  test('needs a finished turn of the session', async () => {
    const missing = { code: 'TURN_NOT_FOUND' };
    await expect(world.runtime.fork(sessionId)).rejects.toMatchObject(missing);
    await turns('1');
    await expect(world.runtime.fork(sessionId, { turnId: 'x' })).rejects.toMatchObject(missing);
    await expect(world.runtime.fork('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('is rejected by an agent that cannot fork, and the list of agents shows that', async () => {
    const isOffered = async () => (await world.runtime.listAgents())[0]?.forks;
    await turns('1');
    expect(await isOffered()).toBe(true);
    world.agent.fork = undefined;
    expect(await isOffered()).toBeUndefined();
    await expect(world.runtime.fork(sessionId)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test('of an agent that forks only whole conversations is possible only after its newest turn, while none runs', async () => {
    world.agent.forksWhole = true;
    const offered = async () => (await world.runtime.listAgents())[0]?.forks;
    expect(await offered()).toBeUndefined();
    const [first, last] = await turns('1', '2');
    const refused = {
      code: 'TURN_NOT_STORED',
      message: 'Scripted forks only its whole conversation. Fork after its newest turn.',
    };
    await expect(world.runtime.fork(sessionId, { turnId: first })).rejects.toMatchObject(refused);
    const fork = await world.runtime.fork(sessionId, { turnId: last });
    expect(await historyTexts(fork.sessionId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
    expect(world.agent.forks).toEqual([last]);

    await world.runtime.send(sessionId, '3');
    await expect(world.runtime.fork(sessionId)).rejects.toMatchObject(refused);
    world.agent.finish(sessionId);
  });

  test('is rejected with the agent’s reason if the agent has not stored the turn, and no session is created', async () => {
    await turns('1');
    world.agent.fork = async () => {
      throw new ProviderError('TURN_NOT_STORED', 'It has not stored this turn.');
    };
    await expect(world.runtime.fork(sessionId)).rejects.toMatchObject({ code: 'TURN_NOT_STORED' });
    expect(await world.storage.store.listSessions()).toHaveLength(1);
  });

  test('leaves nothing if it cannot be stored, and can be retried', async () => {
    await turns('1', '2');
    const { store } = world.storage;
    const saving = vi.spyOn(store, 'saveSession');
    saving.mockRejectedValueOnce(new StorageError('STORE_WRITE_FAILED', 'The disk is full.'));
    const forkId = randomUUID();

    const request = () => world.runtime.fork(sessionId, { sessionId: forkId });
    await expect(request()).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
    expect(await store.listRuns(forkId)).toEqual([]);

    await request();
    expect(await historyTexts(forkId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
  });

  test('exists if only the answer to its last write was lost', async () => {
    await turns('1', '2');
    const { store } = world.storage;
    const { saveSession } = store;
    vi.spyOn(store, 'saveSession').mockImplementationOnce(async (record) => {
      await saveSession.call(store, record);
      throw new StorageError('STORE_WRITE_FAILED', 'The connection is cut.');
    });
    const fork = await world.runtime.fork(sessionId);
    expect(await historyTexts(fork.sessionId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
  });

  test('has each turn once, even if an interrupted try with the same id has stored some of the turns', async () => {
    await turns('1', '2');
    const { store } = world.storage;
    const full = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
    vi.spyOn(store, 'saveSession').mockImplementationOnce(async () => {
      vi.spyOn(store, 'deleteSession').mockRejectedValueOnce(full);
      throw full;
    });
    const forkId = randomUUID();

    const request = () => world.runtime.fork(sessionId, { sessionId: forkId });
    await expect(request()).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
    await request();
    expect(await historyTexts(forkId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
  });

  test('is created once, however often it is requested with one id', async () => {
    await turns('1');
    const request = () => world.runtime.fork(sessionId, { sessionId: forkId });
    const forkId = randomUUID();

    await Promise.all([request(), request()]);
    await turn('2', forkId);
    expect(await request()).toMatchObject({ sessionId: forkId });

    expect(world.agent.forks).toHaveLength(1);
    expect(await historyTexts(forkId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
    const other = { code: 'SESSION_ID_TAKEN' };
    const itself = world.runtime.fork(sessionId, { sessionId });
    await expect(itself).rejects.toMatchObject(other);
  });

  test('is sent to subscribers of the session list', async () => {
    await turns('1');
    const told: string[] = [];
    world.runtime.subscribeToSessionList(({ sessions }) => {
      told.push(...sessions.flatMap(({ forkedFrom }) => forkedFrom?.sessionId ?? []));
    });
    await world.runtime.fork(sessionId);
    await expect.poll(() => told).toContain(sessionId);
  });

  test('continues from the agent’s own copy, whose turns do not count as new', async () => {
    const [first = '', second = ''] = await turns('1', '2');
    const copies = new Map([first, second].map((id) => [id, randomUUID()]));
    world.agent.forked = { agentSessionId: 'copied', copies, left: new Set() };
    const fork = await world.runtime.fork(sessionId, { turnId: second });

    world.agent.storedTurns = [...copies.values()].map((turnId) => storedTurn(turnId));
    world.agent.mark = 'a mark';
    await world.runtime.loadSession(fork.sessionId);

    const page = await world.runtime.history(fork.sessionId);
    expect(page.turns.map(({ turnId }) => turnId)).toEqual([...copies.values()]);
    expect(await historyTexts(fork.sessionId)).toEqual(['1', 'Re: 1', '2', 'Re: 2']);
    const record = await world.storage.store.getSession(fork.sessionId);
    expect(record?.agentSessionId).toBe('copied');
  });

  test('can end after a turn that the agent began by itself, which has another id in its store', async () => {
    const [first = ''] = await turns('1');
    const own = randomUUID();
    const start = { modelId: 'm', providerId: 'scripted', trigger: 'agent' } as const;
    world.agent.emit(sessionId, { type: 'response_start', ...start }, own);
    world.agent.text(sessionId, 'b', 'By itself.');
    world.agent.finish(sessionId);
    const isStored = async () =>
      (await world.storage.store.getResponse(own))?.status === 'complete';
    await expect.poll(isStored).toBe(true);
    await turns('2');
    world.agent.storedTurns = [
      storedTurn(first),
      storedTurn('stored-own', { trigger: 'agent' }),
      storedTurn('stored-2'),
    ];

    const fork = await world.runtime.fork(sessionId, { turnId: own });

    expect(world.agent.forks).toEqual(['stored-own']);
    const saidUntilThen = ['1', 'Re: 1', 'By itself.', filesAreNewer('1')];
    expect(await historyTexts(fork.sessionId)).toEqual(saidUntilThen);
    world.agent.storedTurns.splice(1, 1);
    await world.runtime.fork(sessionId, { turnId: own });
    expect(world.agent.forks.at(-1)).toBe(own);
  });

  test('lacks turns that its agent does not know because they belong to another branch', async () => {
    const [, left = ''] = await turns('1', '2', '3');
    world.agent.forked = { copies: new Map(), left: new Set([left]) };
    const fork = await world.runtime.fork(sessionId);
    expect(await historyTexts(fork.sessionId)).toEqual(['1', 'Re: 1', '3', 'Re: 3']);
  });
});

/** An agent's stored turn. */
function storedTurn(turnId: string, by: { trigger?: 'agent' } = {}): StoredTurn {
  const timestamp = '2026-01-01T00:00:00.000Z';
  const start = { type: 'response_start', modelId: 'm', providerId: 'scripted', ...by } as const;
  const end = { type: 'response_done', status: 'completed', finishReason: 'end_turn' } as const;
  return { turnId, events: [start, end].map((payload) => ({ turnId, timestamp, payload })) };
}
