import { answer, message, type CallItem } from '../../responses-api/reply.ts';
import { pause } from '../../scripted-server/stream-incident.ts';
import { startsItem, type RecordedCase } from '../record.ts';
import { execCommand, writeStdin } from '../tools.ts';

const prompted: RecordedCase['run'] = async (client) => {
  await client.prompt(await client.newSession(), 'Do it.');
};

const growing = 'for i in 1 2 3 4 5; do echo "line $i"; sleep 0.4; done';

/**
 * A command that runs until the file `running` is deleted. While it waits, it prints nothing, so that no output arrives
 * at a random time.
 */
const waiting = 'echo begun; while [ -e running ]; do sleep 0.05; done';

const calls = (
  name: string,
  about: string,
  script: () => CallItem[],
  rest: Partial<RecordedCase> = {},
): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\ntwo\nthree\n', 'notes.md': '# Notes\n' },
  script: () => [answer(script()), answer('That was it.')],
  run: prompted,
  ...rest,
});

/** Makes a script that begins a command, and then, while the command runs, plays `next` with the command's session. */
const inSession =
  (first: CallItem, next: (session: number) => CallItem): RecordedCase['script'] =>
  () =>
  (request) => {
    const [result] = Object.values(request.toolResults);
    if (result === undefined) return answer(first);
    const id = /session ID (\d+)/.exec(result)?.[1];
    return answer(id === undefined ? message('It has ended.') : next(Number(id)));
  };

export const commandCases: RecordedCase[] = [
  calls('command', 'A command with a line of output.', () => [execCommand('echo hi')]),
  calls('command-both-streams', 'A command writes to both streams, with colours.', () => [
    execCommand(String.raw`printf '\033[31mred\033[0m\n'; sleep 0.3; echo err >&2`),
  ]),
  calls('command-fails', 'A command ends with an exit code.', () => [
    execCommand('echo broken; exit 3'),
  ]),
  calls('command-grows', 'A command whose output grows for two seconds.', () => [
    execCommand(growing, { yieldMs: 10_000 }),
  ]),
  calls('command-long-output', 'A command with more output than the model is shown.', () => [
    execCommand('seq 1 4000'),
  ]),
  calls(
    'command-background',
    'The model looks at a command before it has ended, then waits for its end.',
    () => [],
    {
      script: inSession(execCommand(growing, { yieldMs: 600 }), (session) =>
        writeStdin(session, ''),
      ),
    },
  ),
  calls('command-input', 'A command is given input while it runs.', () => [], {
    script: inSession(
      execCommand('read name; echo "hello $name"', { yieldMs: 400, tty: true }),
      (session) => writeStdin(session, 'you\n'),
    ),
  }),
  calls('command-read', 'Commands that Codex knows: reading, listing, searching.', () => [], {
    // The calls are made one after another, because parallel reads would end in a random order.
    script: () => [
      answer(execCommand('cat notes.txt')),
      answer(execCommand('ls')),
      answer(execCommand('grep two notes.txt')),
      answer(execCommand('cat notes.md && ls | wc -l')),
      answer('All read.'),
    ],
  }),
  calls('commands-parallel', 'Two commands of one answer, ended in the other order.', () => [
    execCommand('sleep 2; echo slow', { callId: 'call_slow', yieldMs: 5000 }),
    execCommand('sleep 0.3; echo quick', {
      callId: 'call_quick',
      yieldMs: 5000,
      before: [pause(400)],
    }),
  ]),
  calls('command-between-texts', 'Text, a command, and text again, in one answer.', () => [], {
    script: () => [
      answer([message('Before.'), execCommand('echo hi'), message('After the call.')]),
      answer('In the end.'),
    ],
  }),
  calls(
    'command-sandboxed',
    'A command fails since the sandbox forbids what it does.',
    () => [execCommand('touch made.txt')],
    { codex: { approvalPolicy: 'on-request', sandbox: 'read-only' } },
  ),
  calls(
    'command-left-running',
    'A command outlives its turn and ends during the next one.',
    () => [],
    {
      script: () => [
        answer(execCommand('echo begun; sleep 1; echo ended', { yieldMs: 300 })),
        answer('It runs on.'),
        answer(message([pause(1500), 'By now it has ended.'])),
      ],
      run: async (client) => {
        const thread = await client.newSession();
        await client.prompt(thread, 'Do it.');
        await client.prompt(thread, 'And now?');
        await client.history(thread);
      },
    },
  ),
  calls(
    'command-ends-alone',
    'A command outlives its turn and ends while nothing runs.',
    () => [],
    {
      script: () => [
        answer(execCommand('echo begun; sleep 1; echo ended', { yieldMs: 300 })),
        answer('It runs on.'),
        answer('It has ended.'),
      ],
      run: async (client) => {
        const thread = await client.newSession();
        await client.prompt(thread, 'Do it.');
        await client.silence();
        await client.prompt(thread, 'And now?');
        await client.history(thread);
      },
    },
  ),
  {
    name: 'cancel-command',
    about: 'Stopped while a command runs: it is never completed, and runs on.',
    files: { running: '' },
    script: () => [answer(execCommand(waiting, { yieldMs: 10_000 })), answer('Back again.')],
    run: async (client) => {
      const thread = await client.newSession();
      const turn = await client.begin(thread, 'Do it.');
      await client.until(startsItem('commandExecution'));
      await client.interrupt(thread, turn);
      await client.request('thread/backgroundTerminals/list', { threadId: thread });
      await client.prompt(thread, 'And now?');
      await client.request('thread/backgroundTerminals/clean', { threadId: thread });
      await client.silence();
      await client.history(thread);
    },
  },
];
