import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TranscriptMarks } from './transcript-marks.ts';

/** A store with one session, to which tests add entries as Claude Code does. */
async function store() {
  const root = await mkdtemp(join(tmpdir(), 'liminal-marks-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', root);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
  const folder = join(root, 'projects', '-project');
  await mkdir(folder, { recursive: true });
  const add = (...lines: object[]) =>
    appendFile(join(folder, 's1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return { add, marks: new TranscriptMarks(), path: join(folder, 's1.jsonl') };
}

const user = (uuid: string, parentUuid: string | null, content: unknown = 'Words.') => {
  return { type: 'user', uuid, parentUuid, message: { role: 'user', content } };
};
const assistant = (uuid: string, parentUuid: string) => {
  return { type: 'assistant', uuid, parentUuid, message: { content: [{ type: 'text' }] } };
};

test('a session that is not stored has no mark', async () => {
  const { marks } = await store();
  expect(await marks.read('s1')).toBeUndefined();
});

test('a message that this server sent, and the entries that follow it, leave the mark unchanged', async () => {
  const { add, marks } = await store();
  await add(user('a', null), assistant('a1', 'a'));
  const before = await marks.read('s1');
  marks.noteSent('b');
  await add(user('b', 'a1'), { type: 'attachment', uuid: 'b0', parentUuid: 'b' });
  await add(assistant('b1', 'b0'), user('b2', 'b1', [{ type: 'tool_result' }]));
  await add(user('n', 'b2', '<task-notification>Over.'), assistant('n1', 'n'));
  expect(await marks.read('s1')).toBe(before);
});

test('entries and answers of other programs change the mark, and a position that another process recorded changes the mark', async () => {
  const { add, marks } = await store();
  marks.noteSent('a');
  await add(user('a', null), assistant('a1', 'a'));
  const seen = [await marks.read('s1')];
  for (const entry of [
    user('b', 'a1'),
    assistant('b1', 'b'),
    { type: 'last-prompt', leafUuid: 'b1' },
  ]) {
    await add(entry);
    seen.push(await marks.read('s1'));
  }
  expect(new Set(seen).size).toBe(4);
});

test('a partly written line is read once it is complete', async () => {
  const { add, marks, path } = await store();
  await add(user('a', null));
  const before = await marks.read('s1');
  const line = JSON.stringify(assistant('a1', 'a'));
  await appendFile(path, line.slice(0, 20));
  expect(await marks.read('s1')).toBe(before);
  await appendFile(path, `${line.slice(20)}\n`);
  expect(await marks.read('s1')).not.toBe(before);
});

test('the newest thousand messages that this server sent are remembered', async () => {
  const { add, marks } = await store();
  const before = await marks.read('s1');
  const sent = Array.from({ length: 1_001 }, (_, place) => `m${place}`);
  for (const turnId of sent) marks.noteSent(turnId);
  await add(user('m1', null), user('m1000', 'm1'));
  const known = await marks.read('s1');
  expect(before).toBeUndefined();
  expect(known).toBe('0:');
  await add(user('m0', 'm1000'));
  expect(await marks.read('s1')).toBe('1:');
});
