import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { blobIn, type ContentBlock, UpsertObject } from '@liminal/protocol';
import { partOf } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  clientOf,
  type Command,
  eventually,
  Home,
  type Server,
  createSessionWithTurns,
} from './command.ts';

/** A home folder with a running server. */
let home: Home;
let server: Server;
let client: LiminalClient;

beforeAll(async () => {
  home = new Home();
  server = await home.serve();
  client = clientOf(server);
});
afterAll(async () => {
  client.close();
  await home.close();
});

const demo = (prompt: string, pace: 'normal' | 'instant' = 'instant') =>
  home.start(['run', prompt, '--agent', 'demo', '--set', `pace=${pace}`]);

const sessionOf = async (command: Command) => (await command.untilOutput(/^Session (\S+)$/m))[1]!;

const state = async (sessionId: string) => (await client.requests.status(sessionId)).state;

test('`run` makes a session on the server, and a permission request that nobody can answer is rejected', async () => {
  const command = demo('approve');
  const sessionId = await sessionOf(command);
  expect(await command.exitCode).toBe(0);
  expect(command.stderr).toContain('There is no terminal for an answer, so this was rejected');
  expect(command.stdout).toContain('You refused it');
  expect(await state(sessionId)).toBe('idle');
});

test.each([
  ['an unknown agent', 'gemini', ['run', 'hi', '--agent', 'gemini']],
  ['a folder that is not allowed', '/', ['run', 'hi', '--agent', 'demo', '--dir', '/']],
  ['a missing folder', 'nowhere', ['run', 'hi', '--agent', 'demo', '--dir', 'nowhere']],
  ['an unknown session', 'nobody', ['run', 'hi', '--session', 'nobody']],
  ['a wrong setting', 'pace', ['run', 'hi', '--agent', 'demo', '--set', 'pace=never']],
  ['an unknown session to follow', 'nobody', ['tail', 'nobody']],
])('a command with %s is refused with a sentence', async (_, named, args) => {
  const { exitCode, stdout, stderr } = await home.play(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(named);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('SIGINT stops the turn', async () => {
  const command = demo('slow', 'normal');
  const sessionId = await sessionOf(command);
  await command.untilOutput(/Demo, recorded/);
  command.signal('SIGINT');
  expect(await command.exitCode).toBe(1);
  expect(command.stderr).toContain('! The turn was stopped.');
  await eventually(() => state(sessionId)).toBe('idle');
});

test('after SIGINT, a run whose turn has begun leaves the queue paused, and the list shows this; a run whose turn is still waiting removes its message from the queue', async () => {
  const command = demo('slow', 'normal');
  const sessionId = await sessionOf(command);
  await command.untilOutput(/Demo, recorded/);
  await client.requests.send(sessionId, 'fix');
  const waiting = home.start(['run', 'plan', '--session', sessionId]);
  await waiting.untilOutput(/^Session /m);
  const listed = async () =>
    (await home.play('sessions')).stdout.split('\n').find((line) => line.includes(sessionId));
  waiting.signal('SIGINT');
  expect(await waiting.exitCode).toBe(1);
  expect(waiting.stderr).toContain('Not sent: the message was removed from the queue.');
  expect(await state(sessionId)).toBe('running');

  command.signal('SIGINT');
  expect(await command.exitCode).toBe(1);
  expect(await listed()).toContain('queued, queue paused');
  await client.requests.resumeQueue(sessionId);
  await eventually(async () => (await client.requests.history(sessionId)).turns.length).toBe(2);
});

test('`tail` follows a session until a signal, and prints lines or JSON', async () => {
  const sessionId = await createSessionWithTurns(client, home.project, 'plan');
  const [tail, json] = [home.start(['tail', sessionId]), home.start(['tail', sessionId, '--json'])];
  await tail.untilOutput(/^> plan$/m);
  await json.untilOutput(/"type":"turn"/);
  const lines = json.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.at(-1)).toMatchObject({ type: 'turn', status: 'complete' });
  for (const line of lines.slice(0, -1)) expect(UpsertObject.parse(line)).toEqual(line);
  expect(lines[0]).toMatchObject({ type: 'message', origin: 'user', content: 'plan' });
  expect(lines.map((line) => line.type)).toContain('plan');

  await client.requests.send(sessionId, 'fix');
  await tail.untilOutput(/^> fix$/m);
  await tail.untilOutput(/^\* Run /m);
  await eventually(() => json.stdout.match(/"type":"turn"/g)?.length).toBe(2);
  await client.requests.send(sessionId, 'error');
  await tail.untilOutput(/! The turn failed/);
  tail.signal('SIGINT');
  json.signal('SIGINT');
  expect(await tail.exitCode).toBe(0);
  expect(await json.exitCode).toBe(0);
});

test('a command with another token is refused with a message', async () => {
  const command = home.start(['run', 'hi', '--agent', 'demo'], {
    LIMINAL_TOKEN: 'another-token',
  });
  expect(await command.exitCode).toBe(1);
  expect(command.stderr).toContain('token');
});

test('doctor reports which agents can run and why the other agents cannot run, and finds the running server', async () => {
  const command = home.start(['doctor']);
  expect(await command.exitCode).toBe(0);
  expect(command.stdout).toMatch(/^ok {4}Node 24\./m);
  expect(command.stdout).toContain(`ok    Data folder ${home.data}`);
  expect(command.stdout).toContain(`A server runs at ${server.url}`);
  expect(command.stdout).toMatch(/^ok {4}Agent demo: Demo$/m);
  expect(command.stdout).toMatch(/Agent claude-code: Claude Code/);
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(home.project, name), content);
  return name;
};

const runWith = (prompt: string, ...files: string[]) =>
  ['run', prompt, '--agent', 'demo', '--set', 'pace=instant'].concat(
    files.flatMap((file) => ['--attach', file]),
  );

const sessions = async () =>
  (await client.requests.listProjects()).flatMap((one) =>
    one.sessions.map(({ sessionId }) => sessionId),
  );

/** Returns the attachments of the session's first message, as the server has stored them. */
async function blocksOf(sessionId: string): Promise<ContentBlock[]> {
  const { entries } = await client.requests.history(sessionId);
  const said = entries.find((item) => item.type === 'message' && item.origin === 'user');
  return (said?.type === 'message' && said.blocks) || [];
}

async function bytesOf(block: ContentBlock): Promise<Buffer> {
  const file = await client.requests.getBlob(blobIn(block) ?? '');
  return Buffer.from(await file.arrayBuffer());
}

describe('run --attach', () => {
  const prompts = { 'with words': 'explain', 'without words': '' };
  test.each(partOf(prompts, ['without words']))(
    'run --attach sends files %s, and derives each file’s type from its content or its name',
    async (_, prompt) => {
      const sound = Uint8Array.from([255, 251, 0, 1]);
      write('shot', png);
      write('notes.ts', 'const ä = 1;\n');
      write('voice.mp3', sound);
      const command = home.start(runWith(prompt, 'shot', 'notes.ts', 'voice.mp3'));
      const sessionId = await sessionOf(command);
      expect(await command.exitCode).toBe(0);
      const blocks = await blocksOf(sessionId);
      expect(blocks).toMatchObject([
        { type: 'image', mimeType: 'image/png', name: 'shot', size: png.length },
        { type: 'resource', resource: { mimeType: 'text/plain', name: 'notes.ts' } },
        { type: 'audio', mimeType: 'audio/mpeg', name: 'voice.mp3' },
      ]);
      const bytes = await Promise.all(blocks.map(bytesOf));
      expect(bytes.map((one) => one.toString('hex'))).toEqual(
        [png, Buffer.from('const ä = 1;\n'), Buffer.from(sound)].map((one) => one.toString('hex')),
      );
    },
  );

  test.each([
    ['a missing file', 'nowhere.png', /the file "nowhere.png" does not exist\./],
    ['a folder', '.', /"." is not a file/],
    ['an empty file', 'empty.txt', /"empty.txt" is empty/],
    ['a file that is too large', 'large.bin', /"large.bin" has 21 MiB, but the limit is 20 MiB/],
  ])('run --attach reports the problem of %s, and starts nothing', async (_, file, sentence) => {
    write('empty.txt', '');
    write('large.bin', '');
    truncateSync(join(home.project, 'large.bin'), 21 * 1024 * 1024);
    const before = await sessions();
    const { exitCode, stderr } = await home.play(...runWith('explain', file));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await sessions()).toEqual(before);
  });

  test('if the agent does not accept a file, run --attach prints the agent’s message about this', async () => {
    write('film.mp4', Uint8Array.from([0, 0, 0, 24]));
    const { exitCode, stderr } = await home.play(...runWith('explain', 'film.mp4'));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/does not accept such files.* Remove “film.mp4” \(video\/mp4\) from/);
  });
});
