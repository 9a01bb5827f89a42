/** Runs every command with line breaks in all texts of agents and people. No line break may start a new row. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { acpAgent, type AcpAgent } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home } from './command.ts';

const evil = 'a text\r\nEVIL row\nEVIL again';
/** Matches a row that begins with the text after a line break. Such a row must not occur in the output. */
const evilRow = /^\s*EVIL/m;

let home: Home;
let agent: AcpAgent;
let client: LiminalClient;
let sessionId: string;
let file: string;

const update = (sessionUpdate: string, fields: object) => ({
  update: { sessionUpdate, ...fields },
});

beforeAll(async () => {
  home = new Home();
  agent = await acpAgent({
    initialize: { agentInfo: { name: evil, version: evil } },
    turns: [
      { when: 'fail', steps: [{ error: { code: -32000, message: evil } }] },
      {
        steps: [
          { think: evil },
          update('tool_call', {
            toolCallId: 'call',
            title: evil,
            kind: 'edit',
            rawInput: { path: evil },
            content: [{ type: 'diff', path: `/${evil}`, newText: evil }],
          }),
          update('plan', { entries: [{ content: evil, priority: 'high', status: 'pending' }] }),
          {
            request: {
              method: 'session/request_permission',
              params: {
                toolCall: {
                  toolCallId: 'call',
                  title: evil,
                  content: [{ type: 'content', content: { type: 'text', text: evil } }],
                },
                options: [{ optionId: 'no', name: evil, kind: 'reject_once' }],
              },
            },
          },
          update('tool_call_update', {
            toolCallId: 'call',
            status: 'failed',
            content: [{ type: 'content', content: { type: 'text', text: evil } }],
          }),
        ],
      },
    ],
  });
  const { command, args, env } = agent;
  mkdirSync(home.data, { recursive: true });
  const config = { agents: { evil: { command, args, env, name: evil } } };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(config));
  client = clientOf(await home.serve());
  const { requests } = client;
  const wanted = { cliType: 'evil', projectDir: home.project };
  ({ sessionId } = await requests.createSession(wanted));
  await requests.rename(sessionId, evil);
  file = join(home.folder, 'session.jsonl');
  execFileSync('git', ['init', '-q', home.project]);
  writeFileSync(join(home.project, `${evil}.ts`), evil);
});
afterAll(async () => {
  client.close();
  await home.close();
  await agent.control.close();
});

/**
 * The commands that print texts of agents or people, in the order of the tests. With each command is a text that its
 * output must contain.
 */
const printing: Record<string, { args: () => string[]; code: number; shows: RegExp }> = {
  run: { args: () => ['run', evil, '--session', sessionId], code: 0, shows: /rejected: a text⏎/ },
  'run that fails': {
    args: () => ['run', 'fail', '--session', sessionId],
    code: 1,
    shows: /failed: .*a text\r?\n│ EVIL row/s,
  },
  'run with an unknown agent': {
    args: () => ['run', 'x', '--agent', evil],
    code: 1,
    shows: /a text/,
  },
  sessions: { args: () => ['sessions'], code: 0, shows: /a text⏎EVIL row⏎EVIL again$/m },
  trace: { args: () => ['trace', sessionId], code: 0, shows: /^trace /m },
  doctor: { args: () => ['doctor', '--port', '0'], code: 0, shows: /Agent evil: a text⏎/ },
  export: {
    args: () => ['export', sessionId, '--out', file],
    code: 0,
    shows: /session\.jsonl/,
  },
  import: { args: () => ['import', file], code: 0, shows: /./ },
  fork: { args: () => ['fork', sessionId, '--turn', evil], code: 1, shows: /\S/ },
  rewind: { args: () => ['rewind', sessionId, '--turn', evil, '--yes'], code: 1, shows: /\S/ },
  diff: { args: () => ['diff', sessionId], code: 0, shows: /^untracked {2}a text⏎EVIL row/m },
  mcp: { args: () => ['mcp', sessionId, '--on', evil], code: 1, shows: /\S/ },
  aside: { args: () => ['aside', sessionId, evil], code: 1, shows: /\S/ },
  setup: { args: () => ['setup', sessionId], code: 1, shows: /\S/ },
  directories: {
    args: () => ['directories', sessionId, '--add', evil],
    code: 1,
    shows: /\S/,
  },
  steer: { args: () => ['steer', sessionId, evil], code: 1, shows: /\S/ },
  background: { args: () => ['background', evil], code: 1, shows: /a text/ },
  notify: { args: () => ['notify', evil], code: 1, shows: /\S/ },
  verify: { args: () => ['verify', '--agent', evil], code: 2, shows: /a text/ },
  replay: { args: () => ['replay', evil], code: 2, shows: /a text/ },
  pin: { args: () => ['pin', evil], code: 1, shows: /a text/ },
};

test.each(Object.entries(printing))(
  'SAFE: with %s, a line break in a text starts no new row',
  async (_, { args, code, shows }) => {
    const { exitCode, stdout, stderr } = await home.play(...args());
    expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: code });
    expect(`${stdout}${stderr}`).toMatch(shows);
    expect(stdout).not.toMatch(evilRow);
    expect(stderr).not.toMatch(evilRow);
  },
);

test('SAFE: with `tail`, a line break in a text starts no new row', async () => {
  const tail = home.start(['tail', sessionId]);
  await tail.untilOutput(/! The turn failed/);
  tail.signal('SIGINT');
  expect(await tail.exitCode).toBe(0);
  for (const start of ['> a text', '~ a text', '* a text', '[ ] a text', '? a text⏎']) {
    expect(tail.stdout).toContain(start);
  }
  expect(tail.stdout).not.toMatch(evilRow);
});

test('SAFE: if `delete` asks for confirmation, the session’s title is in one row', async () => {
  const terminal = home.atTerminal(['delete', sessionId]);
  await terminal.shows(/y\/N: $/);
  expect(terminal.output).toMatch(/^\? Delete “a text⏎EVIL row⏎EVIL again” permanently\?/m);
  terminal.type('n');
  await terminal.exited;
});

/** Commands that have no test in this file: they print no text of agents or people, or run until a signal. */
const others = [
  'serve',
  'link',
  'sign-out',
  'projector',
  'tools',
  'acp',
  'archive',
  'unarchive',
].concat('unpin', 'help');

test('every command has a test in this file, or is in the list of commands without a test', async () => {
  const { stdout } = await home.play('--help');
  const [, listed = ''] = /^Commands:\n([^]*)/m.exec(stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
  const tested = Object.keys(printing).map((name) => name.split(' ')[0]);
  expect(new Set([...tested, 'tail', 'delete', ...others])).toEqual(new Set(names));
});
