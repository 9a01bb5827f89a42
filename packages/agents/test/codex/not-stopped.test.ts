/** A scripted Codex that refuses to stop something; the real Codex does so only by chance. */
import { expect, test } from 'vitest';
import { runningTurn } from './silent-codex.ts';

test('if Codex refuses to stop a turn, the cancellation fails, and the turn continues and can be stopped later', async () => {
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

test('cancelling a turn that ends in the meantime succeeds', async () => {
  const { session, turn, refuse } = await runningTurn();
  refuse('turn/interrupt');
  const stopping = session.cancel();
  turn('turn/completed', 'own', { id: 'first', status: 'completed' });
  await expect(stopping).resolves.toBeUndefined();
});

test('stopping a task or a command fails if Codex refuses', async () => {
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
      message: `Codex did not stop the background task. No ${method} now.`,
    });
    refuse(undefined);
    await session.stopTask(taskId);
  }
  await expect(session.stopTask('other')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
});
