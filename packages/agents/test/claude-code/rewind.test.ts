import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testAtLength } from '@liminal/testkit/at-length';
import { reply, toolUse } from '@liminal/testkit';
import { beforeAll, expect, test } from 'vitest';
import { shareClaude } from './running-claude.ts';

/** Three turns that edit `a.txt`; the second makes `b.txt`, and the third lets a command make `c.txt`. */
const share = shareClaude({ session: { mode: 'acceptEdits' } });
const turns: string[] = [];
beforeAll(async () => {
  const { listener } = share(({ projectDir }) => {
    const write = (name: string, content: string) =>
      reply(toolUse('Write', { file_path: join(projectDir, name), content }));
    const turns = [
      [write('a.txt', 'one\n')],
      [write('a.txt', 'two\n'), write('b.txt', 'new\n')],
      [write('a.txt', 'three\n'), reply(toolUse('Bash', { command: 'echo shell > c.txt' }))],
    ];
    return turns.flatMap((calls) => [...calls, reply('Done.')]);
  });
  for (const n of [1, 2, 3]) turns.push((await listener.ask(`Edit ${n}.`)).turnId);
});

function afterThree() {
  const { listener, ...claude } = share(() => [reply('Done.')]);
  const { projectDir } = claude.workspace;
  const onDisk = () =>
    Object.fromEntries(
      readdirSync(projectDir).map((name) => [name, readFileSync(join(projectDir, name), 'utf8')]),
    );
  const rewind = (turnId: string, dryRun = false) =>
    claude.provider.rewindFiles(listener.sessionId, turnId, dryRun);
  return { claude, listener, projectDir, onDisk, rewind };
}

const allThree = { 'a.txt': 'three\n', 'b.txt': 'new\n', 'c.txt': 'shell\n' };

test('a rewind to a turn without a checkpoint is refused, and no file is changed', async () => {
  const { onDisk, rewind } = afterThree();
  const before = onDisk();
  expect(before).toEqual(allThree);
  await expect(rewind(randomUUID())).rejects.toMatchObject({
    code: 'NO_CHECKPOINT',
    message: expect.stringContaining('before this turn'),
  });
  expect(onDisk()).toEqual(before);
});

testAtLength('a fork has no checkpoints of the turns before it', async () => {
  const { claude, listener, projectDir } = afterThree();
  const { copies, agentSessionId } = await claude.provider.fork(
    listener.sessionId,
    projectDir,
    turns[1]!,
  );
  const forkId = randomUUID();
  await claude.provider.loadSession(forkId, { projectDir, agentSessionId: agentSessionId! });
  await expect(
    claude.provider.rewindFiles(forkId, copies.get(turns[1]!)!, true),
  ).rejects.toMatchObject({ code: 'NO_CHECKPOINT' });
});

test('later edits by people are also reverted, and the dry run lists them', async () => {
  const { projectDir, onDisk, rewind } = afterThree();
  writeFileSync(join(projectDir, 'a.txt'), 'by hand\n');
  expect(await rewind(turns[2]!, true)).toMatchObject({ files: [join(projectDir, 'a.txt')] });
  await rewind(turns[2]!);
  expect(onDisk()).toMatchObject({ 'a.txt': 'two\n', 'b.txt': 'new\n' });
});

test('files that were edited in three turns are restored to before the second; only files made by a command stay', async () => {
  const { claude, listener, projectDir, onDisk, rewind } = afterThree();
  // The files as they were after the three turns, before the rewind in the test above.
  writeFileSync(join(projectDir, 'a.txt'), 'three\n');
  const before = allThree;
  expect(onDisk()).toEqual(before);
  // The next process also has the checkpoints.
  await claude.provider.killSession(listener.sessionId);
  await claude.provider.loadSession(listener.sessionId, { projectDir });

  const files = ['a.txt', 'b.txt'].map((name) => join(projectDir, name));
  const change = { files, insertions: 1, deletions: 2 };
  expect(await rewind(turns[1]!, true)).toEqual(change);
  expect(onDisk()).toEqual(before);

  expect(await rewind(turns[1]!)).toEqual(change);
  expect(onDisk()).toEqual({ 'a.txt': 'one\n', 'c.txt': 'shell\n' });
  expect(await rewind(turns[1]!)).toEqual({ files: [], insertions: 0, deletions: 0 });
  await listener.ask('Go on.');
});
