import { expect, test } from 'vitest';
import { z } from 'zod';
import { CommandRequest, type Commands, forwardCommands, runCommand } from './commands.ts';

/** Commands that record their arguments. */
function recorder(): { commands: Commands; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const commands = forwardCommands(async ({ command, sessionId, args }) => {
    calls.push([command, sessionId, ...args]);
    return { turnId: 't', queued: true, sessionId, cliType: 'demo', else: 1 };
  });
  return { commands, calls };
}

test('a command is sent to another server as name, session and arguments, and returns the answer', async () => {
  const { commands, calls } = recorder();
  await expect(commands.send('s', 'Hi', 'turn')).resolves.toEqual({ turnId: 't', queued: true });
  await expect(commands.editQueued('s', 't', 'Hi')).resolves.toBeUndefined();
  expect(calls).toEqual([
    ['send', 's', 'Hi', 'turn'],
    ['editQueued', 's', 't', 'Hi'],
  ]);
});

test('a request from another server is run as the table of commands defines', async () => {
  const { commands, calls } = recorder();
  const answer = { optionId: 'yes', unknown: 1 };
  const request = CommandRequest.parse(
    JSON.parse(
      JSON.stringify({ command: 'answerApproval', sessionId: 's', args: ['ask-1', answer] }),
    ),
  );
  await runCommand(commands, request);
  expect(calls).toEqual([['answerApproval', 's', 'ask-1', { optionId: 'yes' }]]);
});

test.each([
  { command: 'send', sessionId: 's', args: ['Hi', 'no UUID'] },
  { command: 'editQueued', sessionId: 's', args: ['t'] },
  { command: 'setConfig', sessionId: 's', args: ['model', 1] },
  { command: 'rename', sessionId: 's', args: [' '] },
] as const)('$command with invalid arguments does nothing', async (request) => {
  const { commands, calls } = recorder();
  await expect(runCommand(commands, { ...request, args: [...request.args] })).rejects.toThrow(
    z.ZodError,
  );
  expect(calls).toEqual([]);
});

test.each(['createSession', 'toString', '__proto__', 'close', ''])(
  '"%s" is not a command that another server may send',
  (command) => {
    const request = { command, sessionId: 's', args: [] };
    expect(CommandRequest.safeParse(request).success).toBe(false);
  },
);
