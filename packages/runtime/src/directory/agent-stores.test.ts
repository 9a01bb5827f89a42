import type { AgentDriver, StoredSession } from '@liminal/agents';
import { expect, test } from 'vitest';
import { AgentStores } from './agent-stores.ts';
import type { SessionListStorage } from './listed-sessions.ts';

const stored = (sessionId: string): StoredSession => ({
  sessionId,
  projectDir: '/project',
  title: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});

/** An agent whose store is read once `told` resolves. */
const agent = (cliType: string, told: Promise<StoredSession[]>): AgentDriver =>
  ({ cliType, listStoredSessions: () => told }) as Partial<AgentDriver> as AgentDriver;

function stores(...providers: AgentDriver[]): { stores: AgentStores; troubles: string[] } {
  return storesKept(undefined, ...providers);
}

function storesKept(
  kept: SessionListStorage | undefined,
  ...providers: AgentDriver[]
): { stores: AgentStores; troubles: string[] } {
  const troubles: string[] = [];
  const made = new AgentStores({
    registry: { list: () => providers },
    folders: async () => ['/project'],
    ...(kept && { storage: kept }),
    now: () => performance.now(),
    onTrouble: (cliType) => troubles.push(cliType),
  });
  return { stores: made, troubles };
}

/** An agent whose store can be read only while its program runs. */
function program(cliType: string, ...sessionIds: string[]) {
  const state = { runs: false, starts: 0, folders: [] as unknown[] };
  const listStoredSessions = async (_dir?: string, known?: unknown) => {
    state.starts += 1;
    state.folders.push(known);
    return sessionIds.map(stored);
  };
  const peekStoredSessions = async () => (state.runs ? sessionIds.map(stored) : undefined);
  const provider: Partial<AgentDriver> = { cliType, listStoredSessions, peekStoredSessions };
  return { state, provider: provider as AgentDriver };
}

/** A stored list that is kept when a server ends. */
function keep(content?: unknown): SessionListStorage & { content: unknown } {
  return {
    content,
    async read() {
      return this.content;
    },
    async write(learnt) {
      this.content = JSON.parse(JSON.stringify(learnt));
    },
  };
}

const idsOf = (found: readonly { sessionId: string }[]): string[] =>
  found.map(({ sessionId }) => sessionId);

test('a slow store does not delay the lists of other stores, and its sessions are listed once it has been read', async () => {
  const slow = Promise.withResolvers<StoredSession[]>();
  const { stores: agentStores } = stores(
    agent('quick', Promise.resolve([stored('a')])),
    agent('slow', slow.promise),
  );
  const found: string[] = [];
  agentStores.each((sessions) => found.push(...sessions.map(({ sessionId }) => sessionId)));

  expect((await agentStores.list()).map(({ sessionId }) => sessionId)).toEqual(['a']);
  expect(found).toEqual(['a']);

  slow.resolve([stored('b')]);
  await expect.poll(() => found).toEqual(['a', 'b']);
});

test('a store that cannot be read is reported, and the other stores are read', async () => {
  const { stores: agentStores, troubles } = stores(
    agent('broken', Promise.reject(new Error('No.'))),
    agent('good', Promise.resolve([stored('a')])),
  );
  expect((await agentStores.list()).map(({ cliType }) => cliType)).toEqual(['good']);
  expect(troubles).toEqual(['broken']);
});

test('neither listing sessions nor finding an unknown session starts a program', async () => {
  const one = program('one', 'a');
  const two = program('two', 'b');
  const { stores: agentStores } = stores(one.provider, two.provider);

  expect(await agentStores.list()).toEqual([]);
  expect(await agentStores.find('nobody')).toBeUndefined();
  agentStores.each(() => undefined);
  agentStores.refresh(one.provider, () => undefined);

  expect([one.state.starts, two.state.starts]).toEqual([0, 0]);
});

test('sessions that an agent lists on request are stored, and are still listed after a restart', async () => {
  const kept = keep();
  const one = program('one', 'a');
  const before = storesKept(kept, one.provider);

  expect(idsOf(await before.stores.requestSessions(one.provider))).toEqual(['a']);
  expect(one.state).toMatchObject({ starts: 1, folders: [['/project']] });
  expect(idsOf(await before.stores.list())).toEqual(['a']);

  const after = storesKept(kept, program('one', 'a', 'b').provider);
  expect(await after.stores.list()).toEqual([{ ...stored('a'), cliType: 'one' }]);
  expect((await after.stores.find('a'))?.cliType).toBe('one');
  expect(after.troubles).toEqual([]);
  expect(kept.content).toEqual({ one: { sessions: [stored('a')] } });
});

test('the list shows at once the sessions that an agent has just listed on request', async () => {
  const one = program('one', 'a');
  const { stores: agentStores } = stores(one.provider);
  expect(await agentStores.find('nobody')).toBeUndefined();
  expect(idsOf(await agentStores.requestSessions(one.provider))).toEqual(['a']);
  expect(idsOf(await agentStores.list())).toEqual(['a']);
});

test('a running agent’s list replaces its earlier list', async () => {
  const kept = keep();
  const one = program('one', 'new');
  const { stores: agentStores } = storesKept(kept, one.provider);
  await agentStores.requestSessions(program('one', 'old').provider);
  expect(idsOf(await agentStores.list())).toEqual(['old']);

  one.state.runs = true;
  await expect.poll(async () => idsOf(await agentStores.list())).toEqual(['new']);
  one.state.runs = false;
  await expect.poll(async () => idsOf(await agentStores.list())).toEqual(['new']);
  expect(one.state.starts).toBe(0);
});

test('a search for an unknown session does not wait for an agent that never answers', async () => {
  const silent: Partial<AgentDriver> = {
    cliType: 'silent',
    peekStoredSessions: () => new Promise(() => undefined),
  };
  const { stores: agentStores } = stores(silent as AgentDriver);
  expect(await agentStores.find('nobody')).toBeUndefined();
});

test('stored lists that cannot be read are reported and ignored', async () => {
  const { stores: agentStores, troubles } = storesKept(
    keep({ one: 'broken' }),
    program('one').provider,
  );
  expect(await agentStores.list()).toEqual([]);
  expect(troubles).toEqual(['agents']);
});

test('an agent without a store cannot be asked for sessions', async () => {
  const { stores: agentStores } = stores();
  await expect(
    agentStores.requestSessions({ cliType: 'demo' } as Partial<AgentDriver> as AgentDriver),
  ).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
});

test('sessions on disk are listed without the agent’s program, with the titles that the agent reported', async () => {
  const codex = program('codex', 'one');
  codex.state.runs = true;
  const onDisk = [
    { ...stored('two'), title: 'From its file', updatedAt: '2026-01-03T00:00:00.000Z' },
    { ...stored('one'), title: 'From its file', updatedAt: '2026-01-02T00:00:00.000Z' },
  ];
  const provider = Object.assign(codex.provider, { scanStoredSessions: async () => onDisk });
  const { stores: made } = stores(provider);
  const listed = async () =>
    (await made.list()).map(({ sessionId, title, updatedAt }) => [sessionId, title, updatedAt]);
  const all = [
    ['two', 'From its file', '2026-01-03T00:00:00.000Z'],
    ['one', '', '2026-01-02T00:00:00.000Z'],
  ];
  expect(await listed()).toEqual(all);
  codex.state.runs = false;
  expect(await made.find('two')).toMatchObject({ cliType: 'codex' });
  expect(await listed()).toEqual(all);
  expect(codex.state.starts).toBe(0);
});
