import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Terminals } from './terminals.ts';

function open() {
  const turn = { id: randomUUID(), isCancelled: false };
  const started: string[] = [];
  const terminals = new Terminals({
    cliType: 'scripted',
    projectDir: process.cwd(),
    turn: () => turn,
    // Called right before a program starts on this machine.
    env: (_own, mark) => {
      started.push('here');
      return { ...process.env, ...mark };
    },
    clients: {
      create: async () => {
        started.push('at the client');
        return undefined;
      },
    },
    events: { terminalOutput: () => undefined, terminalExit: () => undefined },
  });
  return { terminals, turn, started };
}

test('SAFE: in a cancelled turn no program is started, on this machine or in a client', async () => {
  const { terminals, turn, started } = open();
  turn.isCancelled = true;
  await expect(terminals.create({ command: 'true' })).rejects.toThrow('The turn was cancelled');
  await terminals.cancelTurn();
  await expect(terminals.create({ command: 'true' })).rejects.toThrow('The turn was cancelled');
  expect(started).toEqual([]);
  await terminals.end();
});

test('a program that starts while its turn is being cancelled is ended, and its request gets no terminal', async () => {
  const { terminals, started } = open();
  const [created] = await Promise.allSettled([
    terminals.create({ command: 'sleep 600' }),
    terminals.cancelTurn(),
  ]);
  expect(created).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringContaining('The turn was cancelled') },
  });
  expect(started).toEqual(['at the client', 'here']);
  await terminals.end();
});
