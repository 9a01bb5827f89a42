/** Tests `liminal rewind` with the real Claude Code, which keeps copies of the files that it edits. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { takenBack } from '@liminal/protocol';
import { claudeEnvironment, reply, startMessagesApi, toolUse } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, eventually, Home, createSessionWithTurns } from './command.ts';

let home: Home;
let client: LiminalClient;
let api: Awaited<ReturnType<typeof startMessagesApi>>;

beforeAll(async () => {
  home = new Home();
  const write = (name: string, content: string) =>
    reply(toolUse('Write', { file_path: join(home.project, name), content }));
  api = await startMessagesApi({
    script: [
      write('a.txt', 'one\n'),
      reply('Edited 1.'),
      write('a.txt', 'two\n'),
      write('b.txt', 'new\n'),
      reply('Edited 2.'),
    ],
  });
  client = clientOf(await home.serve([], claudeEnvironment(home.folder, api.url)));
});
afterAll(async () => {
  client.close();
  await home.close();
  await api.close();
});

const onDisk = () =>
  ['a.txt', 'b.txt'].map((name) => {
    const path = join(home.project, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  });

test('`rewind` lists the files that it would restore, asks for confirmation, and restores the files', async () => {
  const { requests } = client;
  const { sessionId } = await requests.createSession({
    cliType: 'claude-code',
    projectDir: home.project,
  });
  await requests.setConfig(sessionId, 'mode', 'acceptEdits');
  for (const n of [1, 2]) {
    const { turnId } = await requests.send(sessionId, `Edit ${n}.`);
    await eventually(async () => (await requests.history(sessionId)).turns).toContainEqual(
      expect.objectContaining({ turnId, status: 'complete' }),
    );
  }
  const files = ['a.txt', 'b.txt'].map((name) => `${join(home.project, name)}\n`).join('');
  const rewind = async (...args: string[]) => home.play('rewind', sessionId, ...args);

  const dry = await rewind('--turn', '2', '--dry-run');
  expect(dry).toEqual({ exitCode: 0, stdout: files, stderr: '' });
  const unasked = await rewind('--turn', '2');
  expect(unasked).toMatchObject({ exitCode: 2, stdout: '' });
  expect(unasked.stderr).toContain('--yes');
  expect(await rewind('--turn', '3', '--yes')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no turn 3: the session has 2 turns.') as string,
  });
  expect(onDisk()).toEqual(['two\n', 'new\n']);

  const done = await rewind('--turn', '2', '--yes');
  expect(done).toEqual({ exitCode: 0, stdout: files, stderr: '' });
  expect(onDisk()).toEqual(['one\n', undefined]);
  const { entries } = await requests.history(sessionId);
  expect(entries.at(-1)).toMatchObject({
    origin: 'system',
    content: expect.stringMatching(/^Files were restored .*“Edit 2\.”: a\.txt, b\.txt\./),
  });
  expect(await rewind('--turn', '2', '--yes')).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'No file that the agent edited has changed since.\n',
  });
});

test('conversation and files can be rewound together: a message reports this, and the conversation continues with the next message, even after a restart of the agent', async () => {
  const { requests } = client;
  const whole = { status: 'complete' } as const;
  const settled = async (sessionId: string, count: number) => {
    const turns = async () => (await requests.history(sessionId)).turns;
    await eventually(turns).toHaveLength(count);
    await eventually(async () => (await turns()).at(-1)).toMatchObject(whole);
  };
  const path = join(home.project, 'c.txt');
  api.play([
    reply('Answer 1.'),
    reply(toolUse('Write', { file_path: path, content: 'c\n' })),
    reply('Edited.'),
    ...['Answer 3.', 'Answer 4.', 'Answer 5.'].map((text) => reply(text)),
  ]);
  const projectDir = home.project;
  const { sessionId } = await requests.createSession({ cliType: 'claude-code', projectDir });
  await requests.setConfig(sessionId, 'mode', 'acceptEdits');
  for (const [at, text] of ['One.', 'Two.', 'Three.'].entries()) {
    await requests.send(sessionId, text);
    await settled(sessionId, at + 1);
  }
  expect(existsSync(path)).toBe(true);
  const rewind = async (...args: string[]) =>
    home.play('rewind', sessionId, '--turn', '2', '--scope', 'both', ...args);
  const dry = await rewind('--dry-run');
  const stderr = '2 turns would be taken back.\n';
  expect(dry).toEqual({ exitCode: 0, stdout: `${path}\n`, stderr });
  const done = await rewind('--yes', '--send', 'Two, otherwise.');
  expect(done).toMatchObject({ exitCode: 0, stderr: '2 turns taken back.\n' });
  await settled(sessionId, 5);
  expect(existsSync(path)).toBe(false);
  const heard = () => {
    const { messages = [] } = api.requests.at(-1)?.body ?? {};
    const texts = messages
      .filter(({ role }) => role === 'user' || role === 'assistant')
      .flatMap(({ content }) =>
        typeof content === 'string' ? content : content.map(({ text = '' }) => text),
      );
    return texts.filter((text) => text !== '' && !text.startsWith('<system-reminder>'));
  };
  expect(heard()).toEqual(['One.', 'Answer 1.', 'Two, otherwise.']);

  // The agent is started again.
  await requests.kill(sessionId);
  await requests.send(sessionId, 'Go on.');
  await settled(sessionId, 6);
  expect(heard()).toEqual(['One.', 'Answer 1.', 'Two, otherwise.', 'Answer 4.', 'Go on.']);
  const { entries, turns } = await requests.history(sessionId);
  const notices = entries.filter((one) => one.type === 'message' && one.origin === 'system');
  expect(notices).toMatchObject([{ content: expect.stringMatching(/^2 turns were taken back/) }]);
  const [, two, three, back] = turns;
  expect(Object.fromEntries(takenBack(turns))).toEqual({
    [two?.turnId ?? '']: back?.turnId,
    [three?.turnId ?? '']: back?.turnId,
  });
});

test.each([
  [['--turn', '1', '--yes'], 1, /cannot|does not|no earlier/],
  [['--turn', '1', '--yes', '--scope', 'conversation'], 1, /cannot/],
  [['--turn', '1', '--yes', '--send', 'Hello'], 2, /--scope/],
  [['--yes'], 2, /--turn/],
])(
  '`rewind %j` is refused with a sentence if the agent does not support rewinding',
  async (args, exitCode, problem) => {
    const sessionId = await createSessionWithTurns(client, home.project, 'fix');
    const outcome = await home.play('rewind', sessionId, ...args);
    expect(outcome).toMatchObject({ exitCode, stdout: '' });
    expect(outcome.stderr).toMatch(problem);
  },
);
