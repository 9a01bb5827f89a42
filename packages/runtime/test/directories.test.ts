/** The additional folders of a session. */
import { mkdir, mkdtemp, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from './harness.ts';

let world: World;
let projectDir: string;
let beside: string;
let outside: string;

beforeEach(async () => {
  world = await startWorld();
  projectDir = join(world.projectDir, 'project');
  beside = join(world.projectDir, 'beside');
  outside = await realpath(await mkdtemp(join(tmpdir(), 'liminal-outside-')));
  await mkdir(projectDir);
  await mkdir(beside);
});
afterEach(async () => {
  await world.end();
  await rm(outside, { recursive: true });
});

const create = async (additionalDirectories: string[]) =>
  world.runtime.createSession({ cliType: 'scripted', projectDir, additionalDirectories });
const foldersOf = async (sessionId: string) =>
  (await world.runtime.info(sessionId)).session.additionalDirectories;
const notAllowed = { code: 'PROJECT_DIR_NOT_ALLOWED' };

test('a session’s agent gets the real paths of its folders, each once, also after a restart and in a fork', async () => {
  await symlink(beside, `${beside}-link`);
  const { sessionId } = await create([`${beside}-link`, beside, projectDir]);
  expect(world.agent.directories).toEqual([[beside]]);
  expect(await foldersOf(sessionId)).toEqual([beside]);
  const { turnId } = await world.runtime.send(sessionId, 'Hello');
  world.agent.text(sessionId, 'a', 'Yes.');
  world.agent.finish(sessionId);
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('idle');
  const fork = await world.runtime.fork(sessionId, { turnId });
  const next = await world.restart();
  await next.runtime.send(fork.sessionId, 'And here?');
  await next.runtime.send(sessionId, 'Again');
  expect(next.agent.directories).toEqual([[beside], [beside]]);
});

test('SAFE: folders outside the roots, and missing folders, are rejected at the start and later', async () => {
  await expect(create([outside])).rejects.toMatchObject(notAllowed);
  await symlink(outside, join(projectDir, 'link'));
  await expect(create([join(projectDir, 'link')])).rejects.toMatchObject(notAllowed);
  const missing = { code: 'PROJECT_DIR_NOT_FOUND' };
  await expect(create([join(projectDir, 'missing')])).rejects.toMatchObject(missing);
  const { sessionId } = await create([]);
  const change = async (add: string) => world.runtime.changeDirectories(sessionId, { add: [add] });
  await expect(change(outside)).rejects.toMatchObject(notAllowed);
  await expect(change(join(projectDir, 'missing'))).rejects.toMatchObject(missing);
  expect(await foldersOf(sessionId)).toBeUndefined();
});

test('SAFE: a folder that was replaced by a link to outside the roots blocks the next message until it is removed', async () => {
  const { sessionId } = await create([beside]);
  await rename(beside, `${beside}-before`);
  await symlink(outside, beside);
  await expect(world.runtime.send(sessionId, 'Hello')).rejects.toMatchObject({
    ...notAllowed,
    message: expect.stringContaining('remove it from the session’s additional folders'),
  });
  expect(world.agent.received).toEqual([]);
  await world.runtime.changeDirectories(sessionId, { remove: [beside] });
  await world.runtime.send(sessionId, 'Hello');
  expect(world.agent.received).toEqual(['Hello']);
});

test('folders are changed in the running agent', async () => {
  const { sessionId } = await create([]);
  const other = join(projectDir, 'other');
  await mkdir(other);
  const added = await world.runtime.changeDirectories(sessionId, { add: [beside, other] });
  expect(added).toEqual({ additionalDirectories: [beside, other] });
  const changes = { add: [beside], remove: [other] };
  expect(await world.runtime.changeDirectories(sessionId, changes)).toEqual({
    additionalDirectories: [beside],
  });
  expect(world.agent.directories).toEqual([[], [beside, other], [beside]]);
  expect(await foldersOf(sessionId)).toEqual([beside]);
});

test('an agent that takes folders only at its start is restarted, but not during a turn', async () => {
  world.agent.changesDirectories = false;
  const { sessionId } = await create([]);
  await world.runtime.send(sessionId, 'Hello');
  const add = async () => world.runtime.changeDirectories(sessionId, { add: [beside] });
  await expect(add()).rejects.toMatchObject({ code: 'TURN_IN_PROGRESS' });
  expect(await foldersOf(sessionId)).toBeUndefined();
  world.agent.finish(sessionId);
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('idle');
  await add();
  await world.runtime.send(sessionId, 'Again');
  expect(world.agent.directories).toEqual([[], [beside]]);
});

test('an agent without support for additional folders is not started with any', async () => {
  Object.assign(world.agent, { takesDirectories: false });
  await expect(create([beside])).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  const { sessionId } = await create([]);
  await expect(world.runtime.changeDirectories(sessionId, { add: [beside] })).rejects.toMatchObject(
    { code: 'NOT_SUPPORTED' },
  );
});
