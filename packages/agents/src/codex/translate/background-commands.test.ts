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

test('what a turn leaves running is known with its process, since when it runs, and its last line', () => {
  const commands = left();
  const startedAt = '2025-12-31T23:59:00.000Z';
  const task = { taskId: 'c1', callId: 'c1', title: 'npm run dev', kind: 'command', startedAt };
  expect(commands.running).toEqual([task]);
  expect(commands.find('c1')).toEqual({ threadId: 't', processId: '7' });
  expect(commands.find('c2')).toBeUndefined();
  commands.read(output, { itemId: 'c1', delta: 'compiling\nready\n\n' }, false);
  expect(commands.running).toEqual([{ ...task, progress: 'ready' }]);
  commands.read(output, { itemId: 'c1', delta: '\n' }, false);
  commands.read(output, { itemId: 'c2', delta: 'other' }, false);
  commands.read(output, { itemId: 'c1', delta: 'x'.repeat(500) }, false);
  expect(commands.running[0]?.progress).toBe('x'.repeat(200));
});

test('an end between turns waits for the next one; one in a turn is shown there', () => {
  const between = left();
  between.read('item/completed', ended, true);
  expect(between.running).toEqual([]);
  expect(between.takeEnds()).toEqual([ended]);
  expect(between.takeEnds()).toEqual([]);
  const within = left();
  within.read('item/completed', ended, false);
  expect([within.running, within.takeEnds()]).toEqual([[], []]);
});

test('SAFE: other ends change nothing, and an impossible time is none', () => {
  const commands = new BackgroundCommands();
  commands.adopt([{ ...command, startedAtMs: 1e300 }], now);
  expect(commands.running[0]?.startedAt).toBe(now);
  const before = commands.running;
  for (const item of [undefined, null, 1, {}, { id: 'c2' }]) {
    commands.read('item/completed', { item }, true);
  }
  commands.read(output, { itemId: 'c1', delta: 1 }, true);
  expect(commands.running).toBe(before);
  expect(commands.takeEnds()).toEqual([]);
});
