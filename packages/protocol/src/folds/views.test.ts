import { describe, expect, test } from 'vitest';
import type { OutputItem } from '../items.ts';
import { viewEndedAt, isShown, progressOf, viewsOf, type View } from './views.ts';

type ItemOf<T extends OutputItem['type']> = Extract<OutputItem, { type: T }>;

const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'];
const error = { code: 'X', message: 'It broke.' };
const message = (fields: Partial<ItemOf<'message'>> = {}): ItemOf<'message'> => ({
  id: 'm',
  type: 'message',
  content: 'Hi.',
  origin: 'agent',
  ...fields,
});
const call = (fields: Partial<ItemOf<'function_call'>> = {}): ItemOf<'function_call'> => ({
  id: 'c',
  type: 'function_call',
  name: 'Read',
  callId: 'one',
  arguments: '{}',
  origin: 'agent',
  ...fields,
});
const output = (fields: Partial<ItemOf<'function_call_output'>> = {}) =>
  ({
    id: 'o',
    type: 'function_call_output',
    callId: 'one',
    output: 'text',
    success: true,
    origin: 'system',
    ...fields,
  }) satisfies OutputItem;
const script: ItemOf<'script_execution'> = {
  id: 'one',
  type: 'script_execution',
  code: '1',
  origin: 'agent',
};
const approval: OutputItem = {
  id: 'a',
  type: 'approval',
  approvalId: 'a',
  title: '?',
  options: [],
};
const failure: OutputItem = { id: 'e', type: 'error', ...error, origin: 'agent' };
const plan: OutputItem = { id: 'p', type: 'plan', entries: [] };

describe('an answer', () => {
  test('shares a view with the last call of the same id that has no answer yet', () => {
    const [first, second] = [call(), call({ id: 'c2' })];
    expect(viewsOf([first, second, output(), message()])).toEqual([
      { item: first },
      { item: second, answer: output() },
      { item: message() },
    ]);
  });

  test('without a call has a view of its own, and so does a second answer to the same call', () => {
    expect(viewsOf([output(), call()])).toEqual([{ item: output() }, { item: call() }]);
    const again = output({ id: 'o2' });
    expect(viewsOf([call(), output(), again])).toEqual([
      { item: call(), answer: output() },
      { item: again },
    ]);
  });

  test('is not paired with a failed call, or with a script of the same id', () => {
    const failed = call({ error });
    expect(viewsOf([failed, output()])).toEqual([{ item: failed }, { item: output() }]);
    expect(viewsOf([script, output()])).toEqual([{ item: script }, { item: output() }]);
  });
});

describe('the progress of a view', () => {
  const running = { status: 'in_progress' } as const;
  const complete = { status: 'complete' } as const;
  const aborted = { status: 'aborted' } as const;
  const broken = { status: 'error', error } as const;

  test.each<[string, View, Parameters<typeof progressOf>[1], unknown]>([
    ['open text', { item: message() }, running, { status: 'open' }],
    ['text of a queued turn', { item: message() }, { status: 'queued' }, { status: 'open' }],
    ['text that has ended', { item: message({ endedAt: early }) }, running, complete],
    ['a call without an answer', { item: call({ endedAt: early }) }, running, { status: 'open' }],
    [
      'a call with an open answer',
      { item: call({ endedAt: early }), answer: output() },
      running,
      { status: 'open' },
    ],
    [
      'a call with its answer',
      { item: call({ endedAt: early }), answer: output({ endedAt: late }) },
      running,
      complete,
    ],
    [
      'a call whose answer failed',
      { item: call({ endedAt: early }), answer: output({ endedAt: late, error }) },
      complete,
      { status: 'error', error },
    ],
    ['an item that failed', { item: message({ error }) }, running, { status: 'error', error }],
    ['an open error', { item: failure }, running, { status: 'open' }],
    ['an error', { item: failure }, complete, { status: 'error', error: failure }],
    ['text that a complete turn cut off', { item: message() }, complete, complete],
    ['text that a cancelled turn cut off', { item: message() }, aborted, complete],
    ['text that a broken turn cut off', { item: message() }, broken, { status: 'error', error }],
    ['an approval that a broken turn cut off', { item: approval }, broken, complete],
    ['a call that a complete turn cut off', { item: call() }, complete, complete],
    [
      'a call that a cancelled turn cut off',
      { item: call() },
      aborted,
      { status: 'error', error: expect.objectContaining({ code: 'CANCELLED' }) },
    ],
    [
      'a call of a turn that failed without an error',
      { item: call() },
      { status: 'error' },
      { status: 'error', error: expect.objectContaining({ code: 'TURN_FAILED' }) },
    ],
    [
      'an answered call of a cancelled turn',
      { item: call({ endedAt: early }), answer: output({ endedAt: late }) },
      aborted,
      complete,
    ],
  ])('%s', (_name, view, turn, progress) => {
    expect(progressOf(view, turn)).toEqual(progress);
  });
});

describe('the end of a view', () => {
  test.each<[string, View, string | undefined]>([
    ['is that of its item', { item: message({ endedAt: early }) }, early],
    [
      'is that of the answer of a call',
      { item: call({ endedAt: early }), answer: output({ endedAt: late }) },
      late,
    ],
    [
      'is that of the later of call and answer',
      { item: call({ endedAt: late }), answer: output({ endedAt: early }) },
      late,
    ],
    [
      'is undefined for a script without an answer',
      { item: { ...script, endedAt: early } },
      undefined,
    ],
    ['is that of a failed call', { item: call({ endedAt: early, error }) }, early],
    [
      'is undefined while the call is open',
      { item: call(), answer: output({ endedAt: late }) },
      undefined,
    ],
    [
      'is undefined while the answer is open',
      { item: call({ endedAt: early }), answer: output() },
      undefined,
    ],
  ])('%s', (_name, view, end) => {
    expect(viewEndedAt(view)).toBe(end);
  });
});

describe('visibility', () => {
  const [open, over] = [{ status: 'open' }, { status: 'complete' }] as const;

  test.each<[OutputItem, boolean, boolean]>([
    [message(), true, true],
    [message({ content: '' }), false, false],
    [message({ content: '', endedAt: early }), true, true],
    [message({ origin: 'user' }), false, true],
    [message({ origin: 'system' }), true, true],
    [{ id: 'r', type: 'reasoning', content: '', origin: 'agent' }, false, false],
    [{ id: 'r', type: 'reasoning', content: 'Hm.', origin: 'agent' }, true, true],
    [call(), true, true],
    [output(), false, true],
    [failure, false, true],
    [approval, true, true],
    [plan, true, true],
  ])('of %j: while open %s, after its end %s', (item, whileOpen, whenOver) => {
    expect([isShown({ item }, open), isShown({ item }, over)]).toEqual([whileOpen, whenOver]);
  });
});
