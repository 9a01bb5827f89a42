import type { CliProvider, StoredSession } from '@liminal/agents';
import { expect, test, vi } from 'vitest';
import { AgentStores } from './projects.ts';

const stored = (sessionId: string): StoredSession => ({
  sessionId,
  projectDir: '/project',
  title: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
});

/** An agent whose store is read when `told` resolves. */
const agent = (cliType: string, told: Promise<StoredSession[]>): CliProvider =>
  ({ cliType, listStoredSessions: () => told }) as Partial<CliProvider> as CliProvider;

function stores(...providers: CliProvider[]): { stores: AgentStores; troubles: string[] } {
  const troubles: string[] = [];
  const made = new AgentStores(
    () => providers,
    () => performance.now(),
    (cliType) => troubles.push(cliType),
  );
  return { stores: made, troubles };
}

test('a store that is slow to read holds nobody up, and is told once it is read', async () => {
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
  await vi.waitFor(() => expect(found).toEqual(['a', 'b']));
});

test('a store that cannot be read is reported, and the others are read', async () => {
  const { stores: agentStores, troubles } = stores(
    agent('broken', Promise.reject(new Error('No.'))),
    agent('good', Promise.resolve([stored('a')])),
  );
  expect((await agentStores.list()).map(({ cliType }) => cliType)).toEqual(['good']);
  expect(troubles).toEqual(['broken']);
});
