import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from './harness.ts';

let world: World;
let projectDir: string;
let outside: string;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  projectDir = join(world.projectDir, 'project');
  outside = await realpath(await mkdtemp(join(tmpdir(), 'liminal-outside-')));
  await mkdir(projectDir);
  ({ sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir }));
});
afterEach(async () => {
  await world.end();
  await rm(outside, { recursive: true });
});

/** Replaces the project folder with a link. */
async function swapFor(target: string): Promise<void> {
  await rename(projectDir, `${projectDir}-before`);
  await symlink(target, projectDir);
}

const send = async () => world.runtime.send(sessionId, 'Hello');
const notAllowed = { code: 'PROJECT_DIR_NOT_ALLOWED' };

test('SAFE: a project folder replaced by a link to outside the roots gets no message', async () => {
  await swapFor(outside);
  await expect(send()).rejects.toMatchObject({
    ...notAllowed,
    message: expect.stringContaining(`${projectDir} lies outside the folders`),
  });
  expect(world.agent.received).toEqual([]);
  expect((await world.runtime.info(sessionId)).queue).toEqual([]);
});

test('SAFE: no agent is started in such a folder by a message, a page, or the next server', async () => {
  await world.runtime.kill(sessionId);
  await swapFor(outside);
  await expect(send()).rejects.toMatchObject(notAllowed);
  await expect(world.runtime.loadSession(sessionId)).rejects.toMatchObject(notAllowed);
  const next = await world.restart();
  await expect(next.runtime.send(sessionId, 'Hello')).rejects.toMatchObject(notAllowed);
  expect([...world.agent.loads, ...next.agent.loads]).toEqual([]);
});

test('SAFE: a queued message is not sent to an agent in such a folder, and stays queued', async () => {
  await send();
  await world.runtime.send(sessionId, 'later');
  await swapFor(outside);
  world.agent.finish(sessionId);
  await expect.poll(() => world.warnings).toContain('a queued message could not be sent');
  expect(world.agent.received).toEqual(['Hello']);
  expect((await world.runtime.info(sessionId)).queue).toMatchObject([{ message: 'later' }]);
});

test('SAFE: a missing project folder, or a file in its place, is named in the error', async () => {
  await rename(projectDir, `${projectDir}-before`);
  await expect(send()).rejects.toMatchObject({ code: 'PROJECT_DIR_NOT_FOUND' });
  await writeFile(projectDir, '');
  await expect(send()).rejects.toMatchObject({ code: 'PROJECT_DIR_NOT_FOUND' });
  expect(world.agent.received).toEqual([]);
});

test('SAFE: a folder that was replaced by a link to another folder below the roots, or was restored, is used', async () => {
  await swapFor(`${projectDir}-before`);
  await send();
  await rm(projectDir);
  await rename(`${projectDir}-before`, projectDir);
  await world.runtime.send(sessionId, 'again');
  expect(world.agent.received).toEqual(['Hello']);
  world.agent.finish(sessionId);
  await expect.poll(() => world.agent.received).toEqual(['Hello', 'again']);
});
