/** A person's Claude Code hooks, which run in Liminal as in a terminal. */
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude, messagesOf } from './running-claude.ts';

const hook = (event: string, command: string) => ({
  [event]: [{ hooks: [{ type: 'command', command }] }],
});
const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;
const settings = {
  permissions: { allow: ['Bash'] },
  hooks: {
    ...hook('UserPromptSubmit', 'echo Remember the milk.'),
    ...hook('PreToolUse', says({ systemMessage: 'A tool comes.' })),
    ...hook('PostToolUse', says({ decision: 'block', reason: 'Look again.' })),
    ...hook('Stop', 'echo No more paper. >&2; exit 1'),
  },
};

test('refusals and failures of hooks are shown where they happen', async () => {
  const { create, api } = await runClaude(
    () => [reply(toolUse('Bash', { command: 'echo one' })), reply('It said one.')],
    { config: { 'settings.json': JSON.stringify(settings) } },
  );
  const response = await (await create()).ask('Run it.');
  const told = messagesOf(response);
  // Claude Code sends a hook's system message and the report of its end in varying order.
  expect(told.slice(1, 3).toSorted()).toEqual([
    'system: PreToolUse:Bash says: A tool comes.',
    'system: The hook PostToolUse:Bash blocked it:\n\nLook again.',
  ]);
  expect(told.slice(3)).toEqual([
    'agent: It said one.',
    'system: The hook Stop failed (exit code 1):\n\nNo more paper.',
    expect.stringMatching(/^system: stop hook problem/i),
  ]);
  const received = JSON.stringify(
    api.requests.findLast(({ kind }) => kind === 'main')?.body.messages,
  );
  for (const words of ['Remember the milk.', 'Look again.']) expect(received).toContain(words);
});

test.each([
  [1, 'failed (exit code 1)', 'agent: Hello.'],
  [2, 'blocked it', expect.stringContaining('operation blocked by hook')],
])(
  'hooks that exit with %i before the turn begins are shown in the turn',
  async (code, what, then) => {
    const fails = (words: string): string => `echo ${words} >&2; exit ${code}`;
    const hooks = {
      ...hook('SessionStart', fails('No disk.')),
      ...hook('UserPromptSubmit', fails('No ink.')),
    };
    const { create } = await runClaude(() => [reply('Hello.')], {
      config: { 'settings.json': JSON.stringify({ hooks }) },
    });
    const listener = await create();
    expect(messagesOf(await listener.ask('Hi.'))).toEqual([
      'user: Hi.',
      `system: The hook SessionStart:startup failed (exit code ${code}):\n\nNo disk.`,
      `system: The hook UserPromptSubmit ${what}:\n\nNo ink.`,
      then,
    ]);
    // A failure at the start is shown once.
    expect(messagesOf(await listener.ask('Hi.')).join()).not.toContain('No disk.');
  },
);
