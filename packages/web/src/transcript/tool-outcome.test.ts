import { expect, it } from 'vitest';
import { tool } from './testing/items.ts';
import { toolPhase, toolTook } from './tool-outcome.ts';

it('a call is running until its result, and failed when the result says so', () => {
  expect(toolPhase(tool('a', { status: 'create' }), false, false)).toBe('running');
  expect(toolPhase(tool('a', { status: 'create' }), true, false)).toBe('waiting');
  expect(toolPhase(tool('a'), false, false)).toBe('done');
  expect(toolPhase(tool('a', { toolOutputIsError: true }), false, false)).toBe('failed');
  expect(toolPhase(tool('a', { status: 'error' }), false, true)).toBe('failed');
});

it('a call without a result in a turn that is over was stopped', () => {
  expect(toolPhase(tool('a', { status: 'update' }), true, true)).toBe('stopped');
  const cancelled = tool('a', { status: 'error', errorCode: 'CANCELLED' });
  expect(toolPhase(cancelled, false, true)).toBe('stopped');
});

it('a finished call took from its start to its result', () => {
  expect(toolTook(tool('a', { startedAt: '2026-01-01T00:00:03.500Z' }))).toBe(1500);
  expect(toolTook(tool('a'))).toBeUndefined();
  expect(
    toolTook(tool('a', { status: 'create', startedAt: '2026-01-01T00:00:03.500Z' })),
  ).toBeUndefined();
});
