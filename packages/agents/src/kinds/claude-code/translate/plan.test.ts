import { describe, expect, test } from 'vitest';
import { ClaudePlan } from './plan.ts';

const task = (id: string, subject = `Task ${id}`, status = 'pending') => ({ id, subject, status });
/** A list with the tasks 1 and 2, made by TaskCreate. */
function listOfTwo(): ClaudePlan {
  const plan = new ClaudePlan();
  for (const id of ['1', '2']) plan.answer('TaskCreate', '', { task: task(id) });
  return plan;
}
const entry = (content: string, status = 'pending') => ({ content, status, priority: 'medium' });
const briefly = ({ entries }: ClaudePlan) =>
  entries.map(({ content, status }) => `${content}: ${status}`);

describe('entries', () => {
  test('an entry of the to-do list is made from the result of TaskCreate, even if the result is only text, as in transcripts', () => {
    const plan = new ClaudePlan();
    expect(plan.answer('TaskCreate', 'Done.', { task: task('1', 'Look') })).toBe(true);
    expect(plan.answer('TaskCreate', 'Task #2 created successfully: Leap', undefined)).toBe(true);
    expect(plan.entries).toEqual([entry('Look'), entry('Leap')]);
  });

  test.each([
    ['Task #2 is there: Leap', undefined],
    ['So: Task #2 created successfully: Leap', undefined],
    [[{ type: 'text', text: 'Task #2 created successfully: Leap' }], undefined],
    [undefined, { task: { id: '2' } }],
  ])(
    'an entry of the to-do list is not made from another result: %j, %j',
    (content, structured) => {
      const plan = new ClaudePlan();
      expect(plan.answer('TaskCreate', content, structured)).toBe(false);
      expect(plan.entries).toEqual([]);
    },
  );

  test('an entry of the to-do list is made once: a repeated result does not reset the entry', () => {
    const plan = listOfTwo();
    plan.call('TaskUpdate', { taskId: '1', status: 'completed' });
    expect(plan.answer('TaskCreate', '', { task: task('1', 'Again') })).toBe(false);
    expect(briefly(plan)).toEqual(['Task 1: completed', 'Task 2: pending']);
  });

  test('TaskUpdate changes only those fields of an entry that the update contains', () => {
    const plan = listOfTwo();
    expect(plan.call('TaskUpdate', { taskId: '1', subject: 'Look' })).toBe(true);
    expect(plan.call('TaskUpdate', { taskId: '2', status: 'in_progress' })).toBe(true);
    expect(plan.entries).toEqual([entry('Look'), entry('Task 2', 'in_progress')]);
  });

  test('an entry of the to-do list is removed when it is deleted', () => {
    const plan = listOfTwo();
    expect(plan.call('TaskUpdate', { taskId: '1', status: 'deleted' })).toBe(true);
    expect(briefly(plan)).toEqual(['Task 2: pending']);
  });

  test.each([
    ['TaskUpdate', { taskId: '9', status: 'completed' }],
    ['TaskUpdate', { taskId: '1', status: 'of_tomorrow' }],
    ['TaskUpdate', undefined],
    ['TaskGet', { taskId: '1', status: 'completed' }],
    ['TodoWrite', { todos: [{ content: 'Look' }] }],
  ])('an entry of the to-do list is not changed by %s %j', (name, input) => {
    const plan = listOfTwo();
    expect(plan.call(name, input)).toBe(false);
    expect(briefly(plan)).toEqual(['Task 1: pending', 'Task 2: pending']);
  });
});

test('TaskList adds unknown entries, and does not change known entries', () => {
  const plan = new ClaudePlan();
  plan.answer('TaskCreate', '', { task: task('1') });
  plan.call('TaskUpdate', { taskId: '1', status: 'completed' });
  const tasks = [task('1'), task('2', 'Look', 'in_progress'), task('3', 'Leap')];
  expect(plan.answer('TaskList', '', { tasks })).toBe(true);
  expect(briefly(plan)).toEqual(['Task 1: completed', 'Look: in_progress', 'Leap: pending']);
  expect(plan.answer('TaskList', '', { tasks })).toBe(false);
  expect(plan.answer('TaskList', 'No tasks.', undefined)).toBe(false);
  expect(plan.answer('TaskGet', '', { tasks: [task('4')] })).toBe(false);
});

test('TodoWrite replaces the whole list', () => {
  const plan = listOfTwo();
  expect(plan.call('TodoWrite', { todos: [{ content: 'Look', status: 'completed' }] })).toBe(true);
  expect(plan.entries).toEqual([entry('Look', 'completed')]);
});
