import { expect, test } from 'vitest';
import { type CommandName, commands } from '@liminal/protocol';
import { z } from 'zod';
import {
  CommandRequest,
  forwardCommands,
  readAnswer,
  refusedOnce,
  runCommand,
} from './commands.ts';

/** Runs commands by recording their arguments. */
function recorder() {
  const calls: unknown[][] = [];
  const run = async ({ command, sessionId, args }: CommandRequest) => {
    calls.push([command, sessionId, ...args]);
    return { turnId: 't', queued: true, sessionId, cliType: 'demo', else: 1 };
  };
  return { run, calls };
}

test('a command is sent to another server as name, session and arguments, and resolves with that server’s answer', async () => {
  const { run, calls } = recorder();
  const methods = forwardCommands(async (request) => readAnswer(request, await run(request)));
  await expect(methods.send('s', 'Hi', 'turn')).resolves.toEqual({ turnId: 't', queued: true });
  await expect(methods.editQueued('s', 't', 'Hi')).resolves.toBeUndefined();
  expect(calls).toEqual([
    ['send', 's', 'Hi', 'turn'],
    ['editQueued', 's', 't', 'Hi'],
  ]);
});

test('a request from another server is run as the table of commands defines', async () => {
  const { run, calls } = recorder();
  const answer = { optionId: 'yes', unknown: 1 };
  const request = CommandRequest.parse(
    JSON.parse(
      JSON.stringify({ command: 'answerApproval', sessionId: 's', args: ['ask-1', answer] }),
    ),
  );
  await runCommand(run, request);
  expect(calls).toEqual([['answerApproval', 's', 'ask-1', { optionId: 'yes' }]]);
});

test.each([
  { command: 'send', sessionId: 's', args: ['Hi', 'no UUID'] },
  { command: 'editQueued', sessionId: 's', args: ['t'] },
  { command: 'setConfig', sessionId: 's', args: ['model', 1] },
  { command: 'rename', sessionId: 's', args: [' '] },
] as const)('$command with invalid arguments is not run', async (request) => {
  const { run, calls } = recorder();
  await expect(runCommand(run, { ...request, args: [...request.args] })).rejects.toThrow(
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

const names = Object.keys(commands) as CommandName[];
test.each(names.filter((name) => refusedOnce[name] !== 'closed'))(
  '%s lists SHUTTING_DOWN among its refusals if it begins something, and not if it always runs',
  (command) => {
    const refusals: readonly string[] = commands[command].refusals;
    expect(refusals.includes('SHUTTING_DOWN')).toBe(refusedOnce[command] === undefined);
  },
);
