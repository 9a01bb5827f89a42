/** What Codex refuses to stop: a real one does so only by chance. */
import { expect, test } from 'vitest';
import { runningTurn } from './silent-codex.ts';

test('a turn that Codex refuses to stop says so, goes on, and can be stopped again', async () => {
  const { session, turn, requests, refuse } = await runningTurn();
  refuse('turn/interrupt');

  await expect(session.cancel()).rejects.toMatchObject({
    code: 'INTERRUPT_FAILED',
    message: 'Codex did not stop. No turn/interrupt now.',
  });

  expect(requests().filter(([method]) => method === 'turn/interrupt')).toEqual([
    ['turn/interrupt', 'own', 'first'],
  ]);
  await expect(session.send('Another.', 'turn-2')).rejects.toMatchObject({
    code: 'TURN_IN_PROGRESS',
  });
  refuse(undefined);
  await session.cancel();
  turn('turn/completed', 'own', { id: 'first', status: 'interrupted' });
  await session.send('Another.', 'turn-2');
});

test('a turn that ends while Codex is asked to stop it has nothing to be stopped', async () => {
  const { session, turn, refuse } = await runningTurn();
  refuse('turn/interrupt');
  const stopping = session.cancel();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  await expect(stopping).resolves.toBeUndefined();
});

test('a task and a command that Codex refuses to stop are told not to have stopped', async () => {
  const { session, say, turn, refuse } = await runningTurn();
  const command = { type: 'commandExecution', id: 'run', command: 'make', processId: '7' };
  say('item/started', 'own', { item: { ...command, status: 'inProgress' } });
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  turn('turn/started', 'task', { id: 'second', rootTurnId: 'first' });

  for (const [taskId, method] of [
    ['task', 'turn/interrupt'],
    ['run', 'thread/backgroundTerminals/terminate'],
  ] as const) {
    refuse(method);
    await expect(session.stopTask(taskId)).rejects.toMatchObject({
      code: 'INTERRUPT_FAILED',
      message: `Codex did not stop it. No ${method} now.`,
    });
    refuse(undefined);
    await session.stopTask(taskId);
  }
  await expect(session.stopTask('other')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
});
