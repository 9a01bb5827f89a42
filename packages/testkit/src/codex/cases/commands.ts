import { answer, message, type CallItem } from '../../responses-api/reply.ts';
import { pause } from '../../scripted-server/happening.ts';
import { isUpdate, type RecordedCase } from '../record.ts';
import { execCommand, writeStdin } from '../tools.ts';

/** What makes Codex stream a command's output, as if into a terminal of the client's. */
export const terminalOutput = { _meta: { terminal_output: true } };

const prompted: RecordedCase['run'] = async (client) => {
  await client.prompt(await client.newSession(), 'Do it.');
};

const growing = 'for i in 1 2 3 4 5; do echo "line $i"; sleep 0.4; done';

/** A model takes its time; one that answers at once makes Codex lose what the command has not yet reported. */
const lateAnswer = answer(message([pause(600), 'That was it.']));

const calls = (
  name: string,
  about: string,
  script: () => CallItem[],
  rest: Partial<RecordedCase> = {},
): RecordedCase => ({
  name,
  about,
  files: { 'notes.txt': 'one\ntwo\nthree\n', 'notes.md': '# Notes\n' },
  script: () => [answer(script()), lateAnswer],
  run: prompted,
  ...rest,
});

/** The same case twice: as a client that says nothing of itself sees it, and one that shows terminals. */
const bothWays = (...args: Parameters<typeof calls>): RecordedCase[] => {
  const plain = calls(...args);
  return [
    plain,
    {
      ...plain,
      name: `${plain.name}-terminal`,
      about: `${plain.about} The client shows terminals.`,
      capabilities: terminalOutput,
    },
  ];
};

export const commandCases: RecordedCase[] = [
  ...bothWays('command', 'A command with a line of output.', () => [execCommand('echo hi')]),
  ...bothWays('command-both-streams', 'A command writes to both streams, with colours.', () => [
    execCommand(String.raw`printf '\033[31mred\033[0m\n'; echo err >&2`),
  ]),
  ...bothWays('command-fails', 'A command ends with an exit code.', () => [
    execCommand('echo broken; exit 3'),
  ]),
  ...bothWays('command-grows', 'A command whose output grows for two seconds.', () => [
    execCommand(growing, { yieldMs: 10_000 }),
  ]),
  ...bothWays('command-long-output', 'A command with more output than the model is shown.', () => [
    execCommand('seq 1 4000'),
  ]),
  ...bothWays(
    'command-background',
    'The model looks at a command before it has ended, then waits for its end.',
    () => [],
    {
      script: () => (request) => {
        const [result] = Object.values(request.toolResults);
        if (result === undefined) return answer(execCommand(growing, { yieldMs: 600 }));
        const id = /session ID (\d+)/.exec(result)?.[1];
        return id === undefined ? answer('It has ended.') : answer(writeStdin(Number(id), ''));
      },
    },
  ),
  ...bothWays('command-input', 'A command is given input while it runs.', () => [], {
    script: () => (request) => {
      const [result] = Object.values(request.toolResults);
      if (result === undefined)
        return answer(execCommand('read name; echo "hello $name"', { yieldMs: 400, tty: true }));
      const id = /session ID (\d+)/.exec(result)?.[1];
      return id === undefined ? answer('It has ended.') : answer(writeStdin(Number(id), 'you\n'));
    },
  }),
  calls('command-read', 'Commands that Codex knows: reading, listing, searching.', () => [
    execCommand('cat notes.txt', { callId: 'call_read' }),
    execCommand('ls', { callId: 'call_list' }),
    execCommand('rg two notes.txt || grep two notes.txt', { callId: 'call_search' }),
    execCommand('cat notes.md', { callId: 'call_markdown' }),
  ]),
  calls('commands-parallel', 'Two commands of one answer, ended in the other order.', () => [
    execCommand('sleep 0.6; echo slow', { callId: 'call_slow', yieldMs: 5000 }),
    execCommand('echo quick', { callId: 'call_quick' }),
  ]),
  calls('command-between-texts', 'Text, a command, and text again, in one answer.', () => [], {
    script: () => [
      answer([message('Before.'), execCommand('echo hi'), message('After the call.')]),
      answer('In the end.'),
    ],
  }),
  ...bothWays(
    'command-left-running',
    'The turn ends while a command still runs: its end is lost.',
    () => [],
    {
      script: () => [
        answer(execCommand('echo begun; sleep 1; echo ended', { yieldMs: 300 })),
        answer('It runs on.'),
        answer(message([pause(1500), 'By now it has ended.'])),
      ],
      run: async (client) => {
        const session = await client.newSession();
        await client.prompt(session, 'Do it.');
        await client.prompt(session, 'And now?');
      },
    },
  ),
  ...bothWays('cancel-command', 'Cancelled while a command runs.', () => [], {
    files: { running: '' },
    script: () => [
      answer(
        execCommand('echo begun; while [ -e running ]; do sleep 0.05; done', { yieldMs: 10_000 }),
      ),
      answer('Back again.'),
    ],
    run: async (client) => {
      const session = await client.newSession();
      const answered = client.prompt(session, 'Do it.');
      await client.until(isUpdate('tool_call'));
      client.notify('session/cancel', { sessionId: session });
      await answered;
      await client.prompt(session, 'And now?');
    },
  }),
];
