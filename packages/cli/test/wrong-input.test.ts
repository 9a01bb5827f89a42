/** Commands about a session with invalid input. Each command is refused with one or two sentences. */
import type { LiminalClient } from '@liminal/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, Home, createSessionWithTurns } from './command.ts';

let home: Home;
let client: LiminalClient;
let demo: string;

beforeAll(async () => {
  home = new Home();
  client = clientOf(await home.serve());
  demo = await createSessionWithTurns(client, home.project, 'fix');
});
afterAll(async () => {
  client.close();
  await home.close();
});

/** Runs a command in which SESSION stands for the demo session. Returns the error. */
async function refusal(args: readonly string[]): Promise<string> {
  const own = args.map((arg) => arg.replace('SESSION', demo).replace('PROJECT', home.project));
  const { exitCode, stdout, stderr } = await home.play(...own);
  expect(stdout).toBe('');
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).not.toMatch(/^ +at |Error:|undefined|\[object/m);
  expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2);
  return stderr.trimEnd();
}

const commands: string[][] = [
  ['setup'],
  ['directories'],
  ['aside', 'Which?'],
  ['rewind', '--turn', '1', '--yes'],
  ['fork'],
  ['mcp'],
  ['background'],
  ['steer', 'Now.'],
];

test.each(commands)(
  '%s with an unknown session id prints an error that says how to list the sessions',
  async (name, ...more) => {
    expect(await refusal([name ?? '', 'nobody', ...more])).toBe(
      "There is no session nobody, neither here nor in any agent's own store. “./liminal sessions” lists them.",
    );
  },
);

test.each(commands)('%s without a session id is refused', async (name) => {
  const more = name === 'rewind' ? ['--turn', '1'] : [];
  expect(await refusal([name ?? '', ...more])).toContain('“./liminal sessions” lists them');
});

describe('for an agent without this feature', () => {
  test.each<[string[], RegExp]>([
    [
      ['setup', 'SESSION'],
      /^Demo does not report the setup of its sessions\. Claude Code and Codex do\.$/,
    ],
    [
      ['aside', 'SESSION', 'Which?'],
      /^Demo cannot answer questions outside its conversation\. Ask in a message\.$/,
    ],
    [['mcp', 'SESSION'], /^Demo does not report its MCP servers\. Claude Code and Codex do\.$/],
    [['mcp', 'SESSION', '--on', 'x'], /MCP servers/],
    [
      ['rewind', 'SESSION', '--turn', '1', '--yes'],
      /^Demo does not keep earlier states of files\. Claude Code does\.$/,
    ],
    [
      ['rewind', 'SESSION', '--turn', '1', '--yes', '--scope', 'conversation'],
      /^Demo cannot take turns back\. Write what should be otherwise in a message\.$/,
    ],
    [['background', 'SESSION'], /^Demo cannot send calls to the background\. Claude Code can\.$/],
    [['background', 'SESSION', '--call', 'x'], /Claude Code can\.$/],
    [
      ['run', 'Hi', '--agent', 'demo', '--dir', 'PROJECT', '--profile', 'x'],
      /^The demo has no setting profile/,
    ],
  ])('the command %j is refused', async (args, words) => {
    expect(await refusal(args)).toMatch(words);
  });
});

test.each<[string[], RegExp]>([
  [['aside', 'SESSION', ''], /^The question is empty: write one\.$/],
  [['rewind', 'SESSION'], /--turn/],
  [['rewind', 'SESSION', '--turn', '1'], /--yes/],
  [['rewind', 'SESSION', '--turn', '9', '--yes'], /^There is no turn 9: the session has 1 turn\.$/],
  [['rewind', 'SESSION', '--turn', '1', '--yes', '--scope', 'x'], /files, conversation, both/],
  [['fork', 'SESSION', '--turn', 'x'], /does not have a turn x/],
  [['mcp', 'SESSION', '--on', 'x', '--off', 'y'], /cannot be used with/],
  [
    ['directories', 'SESSION', '--remove', '/nope'],
    /does not have the folder \/nope\. “\.\/liminal directories/,
  ],
  [['directories', 'SESSION', '--add', '/nope'], /\/nope.*"roots"/],
  [
    ['run', 'Hi', '--agent', 'demo', '--dir', 'PROJECT', '--add-dir', '/nope'],
    /^Demo works in the project folder only: it takes no additional folders\.$/,
  ],
  [['run', 'Hi', '--agent', 'demo', '--dir', '/nope'], /\/nope/],
  [['run', 'Hi', '--agent', 'nobody', '--dir', 'PROJECT'], /nobody/],
  [['run', 'Hi', '--session', 'nobody'], /nobody/],
  [['run', 'Hi', '--session', 'SESSION', '--add-dir', '/nope'], /\/nope/],
  [['run', 'Hi', '--session', 'SESSION', '--profile', 'x'], /--session/],
  [
    ['run', 'Hi', '--agent', 'demo', '--dir', 'PROJECT', '--set', 'x=y'],
    /^The demo has no setting x/,
  ],
  [
    ['run', 'Hi', '--agent', 'demo', '--dir', 'PROJECT', '--model', 'nobody'],
    /^The demo has no setting model/,
  ],
  [
    ['run', 'Hi', '--agent', 'demo', '--dir', 'PROJECT', '--attach', '/nope'],
    /the file "\/nope" does not exist\./,
  ],
  [['run', '', '--agent', 'demo', '--dir', 'PROJECT'], /empty/],
])('the command %j is refused', async (args, words) => {
  expect(await refusal(args)).toMatch(words);
});

test('`directories` reports that a session has no additional folders', async () => {
  expect(await home.play('directories', demo)).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'The session has no additional folders.\n',
  });
});
