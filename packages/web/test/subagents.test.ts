import { expect, it } from 'vitest';
import { message, tool, turn, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';

const task = (rest = {}) =>
  tool('task', {
    toolName: 'Agent',
    kind: 'think',
    toolArguments: {
      description: 'Count the tests',
      prompt: 'Count all tests.',
      subagent_type: 'Explore',
      run_in_background: false,
    },
    ...rest,
  });

shareStage(() => {
  stage.history = {
    entries: [message('u', 'Go', { origin: 'user', status: 'complete' }), task()],
    turns: [turn('t1')],
    cursor: 'c',
    hasMore: false,
  };
});

it('a subagent’s card is open while the subagent works, folds when it has finished, and shows its result once', async () => {
  const page = await stage.visitShared();
  const card = page.getByRole('group', { name: 'Subagent Count the tests' });
  stage.send(
    upsert(message('s', 'There are **42** tests.', { parentCallId: 'task', status: 'complete' })),
  );
  await card.getByText('There are 42 tests.').waitFor();
  expect(await card.getByText('run_in_background').count()).toBe(0);
  const output = 'There are **42** tests.\n\nagentId: a1 (to go on with it)';
  stage.send(upsert(task({ status: 'complete', toolOutput: output })));
  await card.getByText('There are 42 tests.').waitFor({ state: 'detached' });
  await card.getByRole('button', { name: /Subagent/ }).click();
  await card.getByText('There are 42 tests.').waitFor();
  expect(await card.locator('strong', { hasText: '42' }).count()).toBe(1);
  // The text that the agent appended to the result must also be shown.
  await card.getByText('agentId: a1').waitFor();
});
