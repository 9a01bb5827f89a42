import { join } from 'node:path';
import { ProviderError } from '@liminal/agents';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  const { cliType, projectDir } = { cliType: 'scripted', projectDir: world.projectDir };
  ({ sessionId } = await world.runtime.createSession({ cliType, projectDir }));
});
afterEach(async () => world.end());

async function turn(text: string): Promise<string> {
  const { turnId } = await world.runtime.send(sessionId, text);
  world.agent.finish(sessionId);
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('idle');
  return turnId;
}

const historyTexts = async (id = sessionId) =>
  (await world.runtime.history(id)).entries.map((one) => ('content' in one ? one.content : ''));

test('a rewind’s notice names the restored files and the turn', async () => {
  const turnId = await turn('Tidy up.');
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const files = [join(world.projectDir, 'src/a.ts'), '/elsewhere/b.ts'];
  const rewound = { files, insertions: 3, deletions: 1, skipped: 1 };
  world.agent.rewound = rewound;

  expect(await world.runtime.rewind(sessionId, turnId, { dryRun: true })).toEqual(rewound);
  expect(await historyTexts()).toEqual(['Tidy up.']);
  expect(await world.runtime.rewind(sessionId, turnId)).toEqual(rewound);

  const notice =
    'Files were restored to their state before “Tidy up.”: src/a.ts, /elsewhere/b.ts. 1 of them are now links and stay as they are. The conversation is unchanged, and the agent does not know that files changed. Tell it if it matters.';
  await reader.untilTurn('turn_complete');
  world = await world.restart();
  expect(await historyTexts()).toEqual(['Tidy up.', notice]);
  expect(world.agent.rewindings).toEqual([]);
  // A fork has the same files, and its notice names the same turn.
  const fork = await world.runtime.fork(sessionId, { turnId });
  expect(world.agent.forks).toEqual([turnId]);
  expect(await historyTexts(fork.sessionId)).toEqual(['Tidy up.', notice]);
  await world.runtime.fork(sessionId);
  expect(world.agent.forks.at(-1)).toBe(turnId);
});

test('a rewind that changes nothing adds no notice', async () => {
  const turnId = await turn('Look.');
  await world.runtime.rewind(sessionId, turnId);
  expect(world.agent.rewindings).toEqual([`look at ${turnId}`]);
  expect(await historyTexts()).toEqual(['Look.']);
});

test('a rewind that fails is rejected with the reason, which is also in the conversation', async () => {
  const turnId = await turn('Tidy up.');
  world.agent.rewound = new ProviderError('NO_CHECKPOINT', 'The copies are gone.');
  await expect(world.runtime.rewind(sessionId, turnId)).rejects.toMatchObject({
    code: 'NO_CHECKPOINT',
  });
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('failed');
  const { turns } = await world.runtime.history(sessionId);
  expect(turns.at(-1)).toMatchObject({
    status: 'error',
    error: { message: 'The copies are gone.' },
  });
});

test('a rewind is rejected while a turn runs, and for an unknown turn', async () => {
  const turnId = await turn('One.');
  const refused = async (id: string) => world.runtime.rewind(sessionId, id).catch((e) => e.code);
  expect(await refused('x')).toBe('TURN_NOT_FOUND');
  await world.runtime.send(sessionId, 'Two.');
  expect(await refused(turnId)).toBe('TURN_IN_PROGRESS');
  expect(world.agent.rewindings).toEqual([]);
});

test('an agent that does not keep earlier states of files is not asked to restore them', async () => {
  const turnId = await turn('One.');
  const isOffered = async () => (await world.runtime.listAgents())[0]?.rewinds;
  expect(await isOffered()).toBe(true);
  Object.assign(world.agent, { rewinds: false });
  expect(await isOffered()).toBeUndefined();
  await expect(world.runtime.rewind(sessionId, turnId)).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
  });
});
