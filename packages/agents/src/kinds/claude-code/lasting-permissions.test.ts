import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { lastingPermissions } from './lasting-permissions.ts';

const cwd = '/home/ada/shop';
const rule = (toolName: string, ruleContent?: string) => ({
  toolName,
  ...(ruleContent !== undefined && { ruleContent }),
});
const allow = (
  destination: PermissionUpdate['destination'],
  ...rules: ReturnType<typeof rule>[]
): PermissionUpdate => ({ type: 'addRules', rules, behavior: 'allow', destination });
const acceptEdits: PermissionUpdate = {
  type: 'setMode',
  mode: 'acceptEdits',
  destination: 'session',
};
const folders = (...directories: string[]): PermissionUpdate => ({
  type: 'addDirectories',
  directories,
  destination: 'session',
});

const names = (...proposals: PermissionUpdate[]): string[] =>
  lastingPermissions(proposals, cwd).map(({ name }) => name);

// The proposals are Claude Code 2.1.330's own, for `touch made.txt`, `npm test`, …
test.each<[string, PermissionUpdate[], string[]]>([
  [
    'a command that edits',
    [allow('localSettings', rule('Bash', 'touch made.txt')), folders(cwd), acceptEdits],
    ['Always allow `touch made.txt` in this project', 'Allow all edits in this session'],
  ],
  [
    'commands with any arguments',
    [allow('localSettings', rule('Bash', 'rm -rf build'), rule('Bash', 'npm test *'))],
    ['Always allow `rm -rf build` and all commands that begin with `npm test` in this project'],
  ],
  [
    'a command that reads outside the project',
    [
      allow('localSettings', rule('Bash', 'cat /etc/hostname')),
      allow('session', rule('Read', '//etc/**')),
    ],
    [
      'Always allow `cat /etc/hostname` in this project',
      'Always allow reading everything in /etc in this session',
    ],
  ],
  [
    'an edit outside the project',
    [acceptEdits, folders('/tmp')],
    ['Allow all edits and work in /tmp in this session'],
  ],
  [
    'a page',
    [allow('localSettings', rule('WebFetch', 'domain:example.com'))],
    ['Always allow fetching pages from example.com in this project'],
  ],
  [
    'a tool of an MCP server',
    [allow('localSettings', rule('mcp__door__greet')), allow('userSettings', rule('mcp__door'))],
    [
      'Always allow the tool greet of the MCP server door in this project',
      'Always allow all tools of the MCP server door in all projects',
    ],
  ],
  [
    'a whole tool',
    [allow('session', rule('Bash'))],
    ['Always allow every use of Bash in this session'],
  ],
  [
    'a rule of an unknown kind',
    [allow('projectSettings', rule('Skill', 'greet'))],
    ['Always allow Skill `greet` in this project, for all who work on it'],
  ],
])('%s', (_, proposals, expected) => {
  expect(names(...proposals)).toEqual(expected);
});

test('a choice grants only what its name says', () => {
  const touch = allow('localSettings', rule('Bash', 'touch made.txt'));
  const choices = lastingPermissions([touch, folders(cwd), acceptEdits], cwd);
  expect(choices.map(({ updates }) => updates)).toEqual([[touch], [acceptEdits, folders(cwd)]]);
});

test('a proposal that grants nothing, or something unknown, is not offered', () => {
  const rules = [rule('Bash', 'rm -rf /')];
  const odd: PermissionUpdate[] = [
    { type: 'removeRules', rules, behavior: 'deny', destination: 'session' },
    { type: 'replaceRules', rules, behavior: 'allow', destination: 'session' },
    { type: 'addRules', rules, behavior: 'deny', destination: 'session' },
    { type: 'removeDirectories', directories: ['/srv'], destination: 'session' },
    { type: 'setMode', mode: 'plan', destination: 'session' },
    folders(cwd),
  ];
  expect(names(...odd)).toEqual([]);
});
