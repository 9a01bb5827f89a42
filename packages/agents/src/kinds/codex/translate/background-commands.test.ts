import { expect, test } from 'vitest';
import { BackgroundCommands } from './background-commands.ts';

const now = '2026-01-01T00:00:00.000Z';
const command = {
  itemId: 'c1',
  processId: '7',
  threadId: 't',
  title: 'Run npm run dev',
  startedAtMs: Date.parse('2025-12-31T23:59:00.000Z'),
};
const output = 'item/commandExecution/outputDelta';
const ended = { threadId: 't', item: { id: 'c1', type: 'commandExecution' } };

function left(): BackgroundCommands {
  const commands = new BackgroundCommands();
  commands.adopt([command], now);
  return commands;
}

test('a command that runs longer than its turn is listed with its process, start time and last line', () => {
  const commands = left();
  const startedAt = '2025-12-31T23:59:00.000Z';
  const task = { taskId: 'c1', callId: 'c1', title: 'npm run dev', kind: 'command', startedAt };
  expect(commands.running).toEqual([task]);
  expect(commands.find('c1')).toEqual({ threadId: 't', processId: '7' });
  expect(commands.find('c2')).toBeUndefined();
  commands.read(output, { itemId: 'c1', delta: 'compiling\nready\n\n' });
  expect(commands.running).toEqual([{ ...task, progress: 'ready' }]);
  commands.read(output, { itemId: 'c1', delta: '\n' });
  commands.read(output, { itemId: 'c2', delta: 'other' });
  commands.read(output, { itemId: 'c1', delta: 'x'.repeat(500) });
  expect(commands.running[0]?.progress).toBe('x'.repeat(200));
});

test('the end of a command is reported once', () => {
  const commands = left();
  expect(commands.read('item/completed', ended)).toBe(true);
  expect(commands.running).toEqual([]);
  expect(commands.read('item/completed', ended)).toBe(false);
});

test('SAFE: the end of another item changes nothing, and an impossible start time is replaced', () => {
  const commands = new BackgroundCommands();
  commands.adopt([{ ...command, startedAtMs: 1e300 }], now);
  expect(commands.running[0]?.startedAt).toBe(now);
  const before = commands.running;
  for (const item of [undefined, null, 1, {}, { id: 'c2' }]) {
    expect(commands.read('item/completed', { item })).toBe(false);
  }
  commands.read(output, { itemId: 'c1', delta: 1 });
  expect(commands.running).toBe(before);
});
