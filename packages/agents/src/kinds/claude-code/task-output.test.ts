import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isTaskOutput, TaskOutput } from './task-output.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('each command’s output is polled only while the command runs', async () => {
  const looked: string[] = [];
  const output = new TaskOutput(async (taskId) => void looked.push(taskId));
  output.watch(['a']);
  output.watch(['a', 'b']);
  expect(looked).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looked).toEqual(['a', 'b', 'a', 'b']);
  output.watch(['b']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(looked.splice(0)).toEqual(['a', 'b', 'a', 'b', 'b']);
  output.watch([]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(looked).toEqual([]);
});

test('Claude Code is not polled again before it has answered, and is not polled once all commands have ended', async () => {
  const answer = Promise.withResolvers<void>();
  const look = vi.fn<() => Promise<void>>(() => answer.promise);
  const output = new TaskOutput(look);
  output.watch(['a']);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(look).toHaveBeenCalledTimes(1);
  output.watch([]);
  answer.resolve();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(look).toHaveBeenCalledTimes(1);
});

test.each([
  ['/tmp/claude-0/-code-shop/s1/tasks/b1.output', true],
  ['/tmp/claude-0/-code-shop/s2/tasks/b1.output', false],
  ['/tmp/claude-0/-code-shop/s1/tasks/b1.output/x', false],
  ['/tmp/claude-0/-code-shop/s1/tasks/b1', false],
  ['/tmp/claude-x/-code-shop/s1/tasks/b1.output', false],
  ['/tmp/claude-0/s1/tasks/b1.output', false],
  ['/etc/passwd', false],
])('SAFE: only files of the session’s own commands count as their output: %s', (path, is) => {
  expect(isTaskOutput('s1', path)).toBe(is);
});
