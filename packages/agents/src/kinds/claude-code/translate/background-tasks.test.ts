import { loadClaudeRecording } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { BackgroundTasks } from './background-tasks.ts';

const time = '2026-01-01T00:00:00.000Z';

const read = (tasks: BackgroundTasks, message: object, at = time) =>
  tasks.read({ subtype: '', ...message }, at);

/** The lists of running tasks and the sentences about ended tasks, in order. */
async function replay(name: string) {
  const tasks = new BackgroundTasks();
  const told: unknown[] = [];
  for (const { sdk } of (await loadClaudeRecording(name)).entries.filter((one) => 'sdk' in one)) {
    const before = tasks.running;
    const ended = read(tasks, sdk);
    if (tasks.running !== before) told.push(tasks.running);
    if (ended !== undefined) told.push(ended);
  }
  return told;
}

const level = (...ids: string[]) => ({
  subtype: 'background_tasks_changed',
  tasks: ids.map((task_id) => ({ task_id, task_type: 'monitor', description: `Do ${task_id}` })),
});

test('a command runs until Claude Code reports how it ended', async () => {
  const task = { taskId: 'task1', title: 'sleep 1; echo finished', kind: 'command' };
  expect(await replay('background-command')).toEqual([
    [{ ...task, startedAt: time }],
    [{ ...task, startedAt: time, callId: 'toolu_0001_0' }],
    'Background command "sleep 1; echo finished" completed (exit code 0)',
    [],
  ]);
});

test('a subagent’s report is shown in the subagent’s call, so the notice about the subagent’s end does not repeat the report', async () => {
  const told = await replay('background-agent');
  expect(told).toContain('The background task “Inspect the notes” is done.');
  expect(told.at(-1)).toEqual([]);
});

test.each(['subagent', 'tool-bash', 'text'])(
  'there are no background tasks in %s',
  async (name) => {
    expect((await replay(name)).filter((one) => !Array.isArray(one) || one.length > 0)).toEqual([]);
  },
);

test('a task’s activity is shown, and Claude Code’s own housekeeping is not', () => {
  const tasks = new BackgroundTasks();
  read(tasks, { ...level('a'), tasks: [...level('a').tasks, { task_id: 'b', ambient: true }] });
  expect(tasks.running).toEqual([{ taskId: 'a', title: 'Do a', kind: 'other', startedAt: time }]);
  const progress = { subtype: 'task_progress', task_id: 'a' };
  const progressAfter = (fields: object) => {
    read(tasks, { ...progress, ...fields });
    return tasks.running[0]?.progress;
  };
  expect(progressAfter({ description: 'Do a' })).toBeUndefined();
  expect(progressAfter({ description: 'Do a', last_tool_name: 'Read' })).toBe('Read');
  const reading = { description: 'Reading notes.txt', last_tool_name: 'Read' };
  expect(progressAfter(reading)).toBe('Reading notes.txt');
  expect(progressAfter({ ...reading, summary: 'Half way.' })).toBe('Half way.');
  expect(progressAfter({ description: 7, summary: '', last_tool_name: 'Edit' })).toBe('Edit');
  read(tasks, level('a', 'c'), 'later');
  expect(tasks.running.map(({ startedAt }) => startedAt)).toEqual([time, 'later']);
});

test('the last line of a command’s output is shown, and the list changes only when the last line changes', () => {
  const tasks = new BackgroundTasks();
  read(tasks, level('a', 'b'));
  const progress = () => tasks.running.map((task) => task.progress);
  tasks.readOutput('a', 'One\nTwo 10 %\rTwo 20 %\r\n \n');
  expect(progress()).toEqual(['Two 20 %', undefined]);
  const before = tasks.running;
  tasks.readOutput('a', 'Two 20 %');
  tasks.readOutput('a', '\n');
  tasks.readOutput('gone', 'Three');
  expect(tasks.running).toBe(before);
  tasks.readOutput('b', 'x'.repeat(1_000));
  expect(progress()[1]).toHaveLength(200);
});

test('a command’s output file is read only from the result that names the command’s own task', () => {
  const tasks = new BackgroundTasks();
  read(tasks, level('a', 'b'));
  const files = () => tasks.running.map((task) => task.outputFile);
  const words = (id: string) =>
    `Command running in background with ID: ${id}. Output is being written to: /tmp/claude-0/-p/s/tasks/${id}.output. You will be notified.`;
  tasks.readResult({ stdout: words('a') }, words('a'));
  tasks.readResult({ backgroundTaskId: 'b' }, words('a'));
  tasks.readResult({ backgroundTaskId: 'b' }, 'Output is being written to: /etc/passwd');
  expect(files()).toEqual([undefined, undefined]);
  tasks.readResult({ backgroundTaskId: 'a' }, words('a'));
  expect(files()).toEqual(['/tmp/claude-0/-p/s/tasks/a.output', undefined]);
});

test.each([
  ['failed', 'The background task “Do a” has failed.'],
  ['stopped', 'The background task “Do a” was stopped.'],
  ['constructor', 'The background task “Do a” is done.'],
])('if a task ends without a summary, Liminal’s own sentence is shown: %s', (status, words) => {
  const tasks = new BackgroundTasks();
  read(tasks, level('a'));
  const end = { subtype: 'task_notification', task_id: 'a', status };
  expect(read(tasks, end)).toBe(words);
  expect(read(tasks, end)).toBeUndefined();
});

test.each([
  ['a subagent', 'Do a', 'The background task “Do a” was stopped.'],
  [
    'a subagent with a report',
    'Half of it.',
    'The background task “Do a” was stopped. Half of it.',
  ],
  ['a command', 'Background command "Do a" was stopped', 'Background command "Do a" was stopped'],
])('the notice about a stopped task mentions the stop: %s', (_kind, summary, words) => {
  const tasks = new BackgroundTasks();
  read(tasks, level('a'));
  const end = { subtype: 'task_notification', task_id: 'a', status: 'stopped', summary };
  expect(read(tasks, end)).toBe(words);
});

test('a subagent’s title is its task, whether the subagent runs in the background or not', () => {
  const tasks = new BackgroundTasks();
  read(tasks, { subtype: 'task_started', task_id: 'a', tool_use_id: 'x', description: 'Look.' });
  expect(tasks.titleOf('a')).toBe('Look.');
  expect(tasks.titleOf('b')).toBeUndefined();
});

test('the end of a task of an earlier process is reported once', () => {
  const tasks = new BackgroundTasks();
  const end = { subtype: 'task_notification', task_id: 'a', status: 'stopped', tool_use_id: 'x' };
  expect(read(tasks, end)).toBe('The background task was stopped.');
  expect(read(tasks, end)).toBeUndefined();
  const report = { ...end, summary: 'Two lines.', summary_is_report: true };
  expect(read(tasks, report)).toBe('Two lines.');
  expect(read(tasks, { ...end, task_id: 'b', ambient: true })).toBeUndefined();
});

test('when a task that has run again ends, its end is reported again', () => {
  const tasks = new BackgroundTasks();
  const end = { subtype: 'task_notification', task_id: 'a', summary: 'Done.' };
  const told = [level('a'), end, level(), level('a'), end].map((message) => read(tasks, message));
  expect(told.filter((one) => one !== undefined)).toEqual(['Done.', 'Done.']);
});

test('SAFE: unreadable messages change nothing, and the memory is bounded', () => {
  const tasks = new BackgroundTasks();
  for (const message of [{ subtype: 'background_tasks_changed', tasks: 1 }, { subtype: 'init' }]) {
    expect(read(tasks, message)).toBeUndefined();
  }
  expect(tasks.running).toEqual([]);
  for (let n = 0; n < 1_000; n += 1) {
    read(tasks, { subtype: 'task_started', task_id: `t${n}`, tool_use_id: 'x' });
  }
  read(tasks, level('t0', 't999'));
  expect(tasks.running.map(({ callId }) => callId)).toEqual([undefined, 'x']);
});
