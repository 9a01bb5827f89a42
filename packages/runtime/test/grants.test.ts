/** The lasting permissions of a project, in Liminal's own tool loop. */
import { createModelDrivers } from '@liminal/agents/models';
import { type Act, calls, loudEcho, repliesWith, ScriptedClient } from '@liminal/agents/testing';
import { StorageError } from '@liminal/storage';
import { afterEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.end();
});

const loud = (): Act[] => [calls(['echo', { text: 'loud' }]), repliesWith('It was loud.')];

async function start(times: number): Promise<World> {
  const client = new ScriptedClient(Array.from({ length: times }, loud).flat());
  const servers = [{ name: 'openai', title: 'OpenAI', client, model: 'one' }];
  const agents = () => createModelDrivers({ servers, tools: [loudEcho] });
  const world = await startWorld({}, { agents, medium: openMedium('sqlite') });
  worlds.push(world);
  return world;
}

async function create({ runtime, projectDir }: World, projectId = projectDir): Promise<string> {
  const request = { cliType: 'openai', projectDir, projectId };
  return (await runtime.createSession(request)).sessionId;
}

/**
 * Makes the model call the tool, and answers if users are asked; resolves to whether users were asked.
 */
async function isAsked({ runtime }: World, sessionId: string, optionId: string): Promise<boolean> {
  const reader = await new Reader(runtime, sessionId).untilType('session:info');
  const { turnId } = await runtime.send(sessionId, 'Be loud');
  const ends = () =>
    reader.ofType('session:turn').filter(({ payload }) => payload.type === 'turn_complete');
  const question = () =>
    [...reader.items.values()].find((item) => item.type === 'approval' && item.turnId === turnId);
  await reader.until(() => question() !== undefined || ends().length > 0);
  const asked = question();
  if (asked?.type === 'approval') {
    await runtime.answerApproval(sessionId, asked.approvalId, { optionId });
  }
  await reader.until(() => ends().length > 0);
  reader.close();
  return asked !== undefined;
}

test('a lasting permission from one session applies in the whole project, also after a restart, until it is removed', async () => {
  const world = await start(7);
  const { projectDir } = world;
  const one = await create(world);
  const other = await create(world);
  expect(await isAsked(world, one, 'allow')).toBe(true);
  expect(await world.runtime.listGrants(projectDir)).toEqual([]);
  expect(await isAsked(world, one, 'always')).toBe(true);
  expect(await world.runtime.listGrants(projectDir)).toEqual([
    { rule: 'tool:echo', title: 'loud echoes', grantedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
  ]);
  expect(await isAsked(world, other, 'refuse')).toBe(false);
  expect(await isAsked(world, await create(world, 'elsewhere'), 'allow')).toBe(true);

  const next = await world.restart('close');
  expect(await isAsked(next, one, 'refuse')).toBe(false);
  await next.runtime.removeGrant(projectDir, 'tool:echo');
  await next.runtime.removeGrant(projectDir, 'tool:echo');
  expect(await next.runtime.listGrants(projectDir)).toEqual([]);
  expect(await isAsked(next, one, 'allow')).toBe(true);
  expect(await isAsked(next, other, 'allow')).toBe(true);
});

test('the list of agents shows which of them use a project’s grants', async () => {
  const agents = await (await start(0)).runtime.listAgents();
  expect(agents.map(({ cliType, usesGrants }) => [cliType, usesGrants])).toEqual([
    ['scripted', undefined],
    ['openai', true],
  ]);
});

test('if the store cannot save a permission, a notice reports that, the turn continues, and the permission applies in the session', async () => {
  const world = await start(2);
  const { store } = world.storage;
  store.addGrant = async () =>
    Promise.reject(new StorageError('STORE_WRITE_FAILED', 'The disk is full.'));
  const sessionId = await create(world);
  expect(await isAsked(world, sessionId, 'always')).toBe(true);
  expect(await isAsked(world, sessionId, 'refuse')).toBe(false);
  const { notices } = await world.runtime.info(sessionId);
  expect(notices?.map(({ text }) => text)).toEqual([
    '“loud echoes” is allowed in this session only: it could not be stored. The disk is full.',
  ]);
});
