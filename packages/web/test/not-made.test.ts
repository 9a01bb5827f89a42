import type { UpsertObject } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { approval, message, tool, turn } from './items.ts';
import { shareStage, stage } from './stage.ts';

shareStage();

/** The text that Claude Code writes for its model about a call that a person stopped or rejected. */
const modelNote =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the " +
  'new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.';

function edit(id: string, rest: object = {}) {
  const path = `/code/shop/src/${id}.ts`;
  const diffs = [{ path, oldText: 'a\n', newText: 'b\nc\n' }];
  const kind = 'edit';
  const answer = { status: 'complete', toolOutput: modelNote, toolOutputIsError: true } as const;
  const locations = [{ path }];
  return tool(id, { toolName: 'Edit', kind, locations, diffs, ...answer, ...rest });
}

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

async function visit(entries: UpsertObject[], rest: Parameters<typeof turn>[1] = {}) {
  const ended = { status: 'aborted', startedAt: 0, endedAt: 125_000, ...rest } as const;
  stage.history = { entries, turns: [turn('t1', ended)], cursor: 't1:0', hasMore: false };
  return stage.visitShared();
}

it('stopped calls are shown in one line, which opens to show each call with all its texts', async () => {
  const edits = Array.from({ length: 30 }, (_, index) => edit(`e${index}`));
  const interrupted = message('u2', '[Request interrupted by user for tool use]', {
    origin: 'user',
    status: 'complete',
  });
  const page = await visit([...edits, interrupted]);
  const log = page.getByRole('log', { name: 'Conversation' });
  const line = log.getByRole('group', { name: '30 edits skipped' });
  await line.waitFor();
  expect(await log.getByRole('group').count()).toBe(1);
  const words = await log.innerText();
  expect(words).not.toMatch(/doesn't want|Request interrupted|[+−]\d/);

  await line.getByRole('button').click();
  const card = log.getByRole('group', { name: 'Edit src/e3.ts' });
  await card.getByText('Not made: stopped').waitFor();
  await card.getByRole('button').first().click();
  await card.getByRole('button', { name: 'What the model was told' }).click();
  expect(await card.getByLabel('Told to the model').innerText()).toBe(modelNote);
  expect(await card.getByLabel(/lines added/).count()).toBe(0);
  await log.getByRole('button', { name: 'You stopped the agent here' }).click();
  await log.getByText('[Request interrupted by user for tool use]').waitFor();
});

it('a rejected edit is shown as rejected, without a count of lines', async () => {
  const page = await visit([
    edit('a'),
    approval('p', {
      callId: 'a',
      status: 'complete',
      outcome: { outcome: 'selected', optionId: 'no' },
    }),
    message('m', 'Then not.', { status: 'complete' }),
  ]);
  const card = page.getByRole('group', { name: 'Edit src/a.ts' });
  await card.getByText('Rejected').waitFor();
  expect(await card.innerText()).not.toMatch(/[+−]\d|doesn't want/);
  expect(await card.getByRole('img', { name: 'failed' }).count()).toBe(0);
});

it('a skipped question is shown as skipped, not as a failure', async () => {
  const form = { type: 'object', properties: { day: { type: 'string' } } } as const;
  const outcome = { outcome: 'selected', optionId: 'no' } as const;
  const page = await visit([
    tool('q', { toolName: 'AskUserQuestion', kind: 'other', toolOutputIsError: true }),
    approval('p', { callId: 'q', title: 'Which day?', form, status: 'complete', outcome }),
    message('m', 'Then any day.', { status: 'complete' }),
  ]);
  const card = page.getByRole('group', { name: /Which day/ });
  await card.getByText('Skipped').waitFor();
  expect(await card.getByRole('img', { name: 'failed' }).count()).toBe(0);
});

it('a failed edit is shown without a count of lines, a successful edit with one', async () => {
  const page = await visit([
    edit('a', { toolOutput: 'No such text in the file.' }),
    edit('b', { toolOutput: 'Done.', toolOutputIsError: false }),
  ]);
  const failed = page.getByRole('group', { name: 'Edit src/a.ts' });
  await failed.getByRole('img', { name: 'failed' }).waitFor();
  expect(await failed.getByLabel(/lines added/).count()).toBe(0);
  await page.getByRole('group', { name: 'Edit src/b.ts' }).getByLabel('2 lines added').waitFor();
});

it('the time of a tool starts when the tool was allowed, and a turn shows how long it waited', async () => {
  const page = await visit(
    [
      tool('call', {
        toolArguments: { command: 'npm test' },
        startedAt: at(5),
        sourceTimestamp: at(67),
        status: 'complete',
        toolOutput: 'ok',
      }),
      approval('p', {
        callId: 'call',
        startedAt: at(5),
        sourceTimestamp: at(65),
        status: 'complete',
        outcome: { outcome: 'selected', optionId: 'yes' },
      }),
    ],
    { status: 'complete' },
  );
  const card = page.getByRole('group', { name: 'Run npm test' });
  await card.getByText('2 s', { exact: true }).waitFor();
  await page.getByText('1 min 5 s (+1 min waiting)').waitFor();
});
