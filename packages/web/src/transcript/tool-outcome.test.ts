import { expect, it } from 'vitest';
import { approval, tool } from './testing/items.ts';
import { beganAt, toolPhase, toolTook, waitedFor } from './tool-outcome.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

const answered = (optionId: string, from: number, to: number) =>
  approval('p', {
    status: 'complete',
    startedAt: at(from),
    sourceTimestamp: at(to),
    outcome: { outcome: 'selected', optionId },
  });

it('a call is running until its result arrives, and has failed if the result reports a failure', () => {
  expect(toolPhase(tool('a', { status: 'create' }), false, false)).toBe('running');
  expect(toolPhase(tool('a', { status: 'create' }), true, false)).toBe('waiting');
  expect(toolPhase(tool('a'), false, false)).toBe('done');
  expect(toolPhase(tool('a', { toolOutputIsError: true }), false, false)).toBe('failed');
  expect(toolPhase(tool('a', { status: 'error' }), false, true)).toBe('failed');
});

it('a call without a result in an ended turn was stopped', () => {
  expect(toolPhase(tool('a', { status: 'update' }), true, true)).toBe('stopped');
  const cancelled = tool('a', { status: 'error', errorCode: 'CANCELLED' });
  expect(toolPhase(cancelled, false, true)).toBe('stopped');
});

it('a call that a person rejected is rejected, whatever the agent reports', () => {
  const failed = tool('a', { toolOutputIsError: true, toolOutput: 'Permission denied' });
  expect(toolPhase(failed, false, false, answered('no', 1, 2))).toBe('rejected');
  expect(toolPhase(tool('a'), false, false, answered('no', 1, 2))).toBe('rejected');
  expect(toolPhase(failed, false, false, answered('yes', 1, 2))).toBe('failed');
});

it('a skipped question is rejected; a call continues after a person has declined its form', () => {
  const form = { type: 'object', properties: { day: { type: 'string' } } } as const;
  const skipped = approval('p', { form, outcome: { outcome: 'selected', optionId: 'no' } });
  const asked = tool('a', { toolName: 'AskUserQuestion', toolOutputIsError: true });
  expect(toolPhase(asked, false, false, skipped)).toBe('rejected');
  expect(toolPhase(tool('a', { toolName: 'Deploy' }), false, false, skipped)).toBe('done');
});

it('a text about a stopped call that the agent wrote for its model is not a failure', () => {
  const toolOutput =
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, " +
    'the new_string was NOT written to the file). STOP what you are doing.';
  expect(toolPhase(tool('a', { toolOutputIsError: true, toolOutput }), false, true)).toBe(
    'stopped',
  );
  expect(toolPhase(tool('a', { toolOutput }), false, true)).toBe('done');
});

it('the time of a call starts when the call was allowed, not when it was requested', () => {
  const call = tool('a', { startedAt: at(0), sourceTimestamp: at(65) });
  expect(toolTook(call, beganAt(call))).toBe(65_000);
  expect(toolTook(call, beganAt(call, answered('yes', 1, 60)))).toBe(5000);
  expect(toolTook(call, beganAt(call, approval('p', { startedAt: at(1) })))).toBe(65_000);
  expect(toolTook(tool('a'), beganAt(tool('a')))).toBeUndefined();
  expect(toolTook(tool('a', { status: 'create', startedAt: at(0) }), at(0))).toBeUndefined();
});

it('a call took as long as its agent reports', () => {
  const call = tool('a', { startedAt: at(0), sourceTimestamp: at(65), durationMs: 1200 });
  expect(toolTook(call, beganAt(call))).toBe(1200);
  expect(toolTook(tool('a', { durationMs: 0 }), undefined)).toBe(0);
  expect(toolTook({ ...call, status: 'update' }, at(0))).toBeUndefined();
});

it('if a call waits for two answers at the same time, this time is counted only once', () => {
  expect(waitedFor([])).toBe(0);
  expect(waitedFor([answered('yes', 10, 20), answered('no', 0, 12), answered('no', 30, 31)])).toBe(
    21_000,
  );
  expect(waitedFor([approval('p', { startedAt: at(1) })])).toBe(0);
});
