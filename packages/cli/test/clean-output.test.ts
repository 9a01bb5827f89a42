/**
 * Agents whose text tries to control a terminal or to deceive its reader. The tests check the real outputs of the real
 * commands.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acpAgent, type AcpAgent } from '@liminal/testkit';
import { UpsertObject } from '@liminal/protocol';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Command, Home } from './command.ts';

/**
 * Text that sets the window title, writes the clipboard and clears the screen, and that contains 8-bit C1 controls,
 * reversed text and zero-width characters.
 */
const nasty =
  '\u001b]0;t\u0007\u001b]52;c;cm0=\u001b\\\u001b[2J\u009b2J\u009d52;c;x\u009c\u202egnp\u200b\u{e0041}';
/**
 * Byte sequences (UTF-8) that no output may contain: control characters except line feed and tab, C1 controls,
 * direction marks, zero-width characters, tags.
 */
const forbidden =
  /[^\P{Cc}\n\t]|[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u;

let home: Home;
let agent: AcpAgent;

beforeAll(async () => {
  home = new Home();
  const call = { toolCallId: 'call', kind: 'execute', rawInput: { command: `rm ${nasty}` } };
  agent = await acpAgent({
    initialize: { agentInfo: { name: `Agent ${nasty}`, version: '1' } },
    turns: [
      {
        when: 'fail',
        steps: [{ error: { code: -32000, message: `broken ${nasty}` } }],
      },
      {
        steps: [
          { say: `Hello ${nasty}, 👩🏽‍💻 می‌خواهم. ` },
          { think: `Hm ${nasty}` },
          {
            request: {
              method: 'session/request_permission',
              params: {
                toolCall: { ...call, title: `Delete ${nasty}` },
                options: [
                  { optionId: 'yes', name: `Allow ${nasty}`, kind: 'allow_once' },
                  { optionId: 'no', name: `Reject ${nasty}`, kind: 'reject_once' },
                ],
              },
            },
          },
          {
            update: {
              sessionUpdate: 'tool_call_update',
              toolCallId: 'call',
              status: 'failed',
              content: [{ type: 'content', content: { type: 'text', text: `No ${nasty}` } }],
            },
          },
          { say: 'Done.' },
        ],
      },
    ],
  });
  const { command, args, env } = agent;
  mkdirSync(home.data, { recursive: true });
  const config = { agents: { nasty: { command, args, env } } };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(config));
  await home.serve();
});
afterAll(async () => {
  await home.close();
  await agent.control.close();
});

const run = (...args: string[]) => home.start(['run', ...args, '--agent', 'nasty']);

/**
 * Runs the command to its end and checks that neither of its outputs contains forbidden bytes. Resolves with the exit
 * code.
 */
async function ended(command: Command): Promise<number> {
  const code = await command.exitCode;
  expect(forbidden.exec(command.stdout)?.[0]).toBeUndefined();
  expect(forbidden.exec(command.stderr.replaceAll('\u200d', ''))?.[0]).toBeUndefined();
  return code;
}

test('SAFE: `run` and `tail` print no terminal controls, and `tail --json` escapes them', async () => {
  const command = run('go');
  expect(await command.exitCode).toBe(0);
  const said = 'Hello ‹U+202E›gnp‹U+200B›‹U+E0041›, 👩🏽‍💻 می‌خواهم. ';
  expect(command.stdout).toContain(said);
  expect(command.stdout.replaceAll(said, '')).not.toMatch(forbidden);
  expect(command.stderr).not.toMatch(forbidden);
  expect(command.stderr).toContain('was rejected: Delete ‹U+001B›]0;t‹U+0007›‹U+001B›]52;c;cm0=');
  expect(command.stderr).toMatch(/^~ Hm ‹U\+202E›gnp/m);
  expect(command.stderr).toMatch(/^\* Delete ‹U\+001B›\]0;t.* failed: No ‹U\+202E›gnp/m);

  const [, sessionId = ''] = await command.untilOutput(/^Session (\S+)$/m);
  const tail = home.start(['tail', sessionId]);
  await tail.untilOutput(/^Done\.$/m);
  tail.signal('SIGINT');
  expect(await tail.exitCode).toBe(0);
  expect(tail.stdout).toContain(said);
  expect(tail.stdout.replaceAll(said, '')).not.toMatch(forbidden);
  expect(tail.stdout).toMatch(/^\? Delete ‹U\+001B›.*: Reject ‹U\+001B›\]0;t/m);

  const json = home.start(['tail', sessionId, '--json']);
  await json.untilOutput(/"type":"turn"/);
  json.signal('SIGINT');
  expect(await ended(json)).toBe(0);
  const items = json.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const approval = items.map((item) => UpsertObject.safeParse(item).data).find(isApproval);
  expect(approval?.title).toBe(`Delete ${nasty}`);
  expect(json.stdout).toContain('\\u202egnp\\u200b\\udb40\\udc41');
});

const isApproval = (item: UpsertObject | undefined) => item?.type === 'approval';

testAtLength(
  'SAFE: errors that contain text of an agent or of a command line cannot control a terminal',
  async () => {
    const failed = run('fail');
    expect(await ended(failed)).toBe(1);
    expect(failed.stderr).toMatch(/^! The turn failed: .*broken ‹U\+202E›gnp/m);

    const [, sessionId = ''] = await failed.untilOutput(/^Session (\S+)$/m);
    const asJson = home.start(['run', 'fail', '--json', '--session', sessionId]);
    expect(await ended(asJson)).toBe(1);
    expect(asJson.stdout).toContain('\\u202egnp');

    const wrongs = [
      [`x${nasty}`],
      [`--x${nasty}`],
      ['tail', `x${nasty}`],
      ['run', 'hi', '--agent', nasty],
    ];
    for (const args of wrongs.slice(0, atLength ? 4 : 3)) {
      const wrong = home.start(args);
      expect(await ended(wrong)).toBeGreaterThan(0);
      expect(wrong.stderr).toContain('‹U+202E›gnp');
    }
  },
);

test('SAFE: doctor shows the names of agents without terminal controls', async () => {
  const doctor = home.start(['doctor', '--port', '0']);
  expect(await ended(doctor)).toBe(0);
  expect(doctor.stdout).toContain('Agent ‹U+202E›gnp‹U+200B›');
});
