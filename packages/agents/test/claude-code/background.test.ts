/** Running calls of the real Claude Code that are moved to the background, as with Ctrl+B in its terminal. */
import { gate, held, reply, times, toolUse, withSubagents } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { shareClaude } from './running-claude.ts';

const settings = { permissions: { allow: ['Bash'] } };
const share = shareClaude({ config: { 'settings.json': JSON.stringify(settings) } });
const forEver = toolUse('Bash', { command: 'until [ -e gone ]; do sleep 1; done' });

test('a running command is moved to the background, and its turn continues', async () => {
  const { listener, provider } = share(() => [reply(forEver), reply('It runs beside.')]);
  const { turnId } = await listener.send('Start the server.');
  const { payload } = await listener.event(
    (one) => one.type === 'item_done' && one.finalItem.type === 'function_call',
    turnId,
  );
  const call = payload.type === 'item_done' ? payload.finalItem : undefined;
  const callId = call?.type === 'function_call' ? call.callId : '';
  await expect(provider.background(listener.sessionId, 'other')).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
  });
  // A command can be moved to the background only once Claude Code has started it.
  await expect
    .poll(
      () =>
        provider.background(listener.sessionId, callId).then(
          () => true,
          () => false,
        ),
      {
        timeout: 60_000,
      },
    )
    .toBe(true);
  const response = await listener.ended(turnId);
  expect(response.status).toBe('complete');
  expect(JSON.stringify(response.outputItems)).toContain('It runs beside.');
  const { tasks = [] } = await listener.until(() =>
    listener.updates.findLast((one) => (one.tasks ?? []).length > 0),
  );
  expect(tasks).toMatchObject([{ kind: 'command', callId }]);
  await provider.stopTask(listener.sessionId, tasks[0]?.taskId ?? '');
});

test('without a running turn, nothing is moved to the background, and the request is refused', async () => {
  const { listener, provider } = share(() => [reply('Done.')]);
  const { turnId } = await listener.send('Say done.');
  await listener.ended(turnId);
  await expect(provider.background(listener.sessionId)).rejects.toMatchObject({
    code: 'TASK_NOT_FOUND',
  });
});

test('a subagent that the turn waits for is moved to the background, and the turn continues', async () => {
  const working = gate();
  const { listener, provider } = share(() =>
    withSubagents(
      [
        reply(
          toolUse('Agent', {
            description: 'Inspect the notes',
            prompt: 'Inspect notes.txt',
            subagent_type: 'general-purpose',
            run_in_background: false,
          }),
        ),
        ...times(4, reply('It works beside.')),
      ],
      { 'Inspect notes.txt': [held(working, reply('No lines.'))] },
    ),
  );
  const { turnId } = await listener.send('Have the notes inspected.');
  await working.reached;
  await provider.background(listener.sessionId);
  const response = await listener.ended(turnId);
  expect(JSON.stringify(response.outputItems)).toContain('It works beside.');
  const { tasks = [] } = await listener.until(() =>
    listener.updates.findLast((one) => (one.tasks ?? []).length > 0),
  );
  expect(tasks).toMatchObject([{ kind: 'agent', title: 'Inspect the notes' }]);
  working.open();
  await listener.until(() =>
    listener.updates.findLast((one) => one.tasks !== undefined && one.tasks.length === 0),
  );
});
