import { describe, expect, test } from 'vitest';
import type { EventPayload } from '../events.ts';
import type { ItemPatch } from '../items.ts';
import { foldEvents, foldRun, upsertsIn } from '../testing/fold-run.ts';
import * as say from '../testing/payloads.ts';
import { runOf } from '../testing/run-of.ts';
import { flushIdle, nextFlushAt, startUpsertFold } from './upsert.ts';

const live = { appends: true };
const blocks = [{ type: 'resource_link' as const, uri: 'file:///a', name: 'a' }];
const patch = (itemId: string, fields: ItemPatch, deltaContent = ''): EventPayload => ({
  type: 'item_delta',
  itemId,
  deltaContent,
  patch: fields,
});
const output = (itemId: string, callId: string): EventPayload => ({
  type: 'item_start',
  itemId,
  itemType: 'function_call_output',
  callId,
});
/** The outputs of the last of these payloads. */
const shownLast = (payloads: EventPayload[], config = {}) => {
  const before = foldRun(payloads.slice(0, -1), config).outputs.length;
  return foldRun(payloads, config).outputs.slice(before);
};

describe('a text', () => {
  const shown = [say.text('a'), say.delta('a', 'word '.repeat(11))];

  test('with changed blocks is shown again when it is idle', () => {
    const { state } = foldRun([...shown, patch('a', { blocks })]);
    const { outputs } = flushIdle(state, nextFlushAt(state) ?? 0);
    expect(upsertsIn(outputs)).toMatchObject([{ status: 'update', blocks }]);
  });

  test('with changed blocks is shown whole and at once to live readers', () => {
    expect(shownLast([...shown, patch('a', { blocks }, 'more')], live)).toMatchObject([
      {
        kind: 'upsert',
        upsert: { status: 'update', content: `${'word '.repeat(11)}more`, blocks },
      },
    ]);
  });

  test('with only blocks is shown', () => {
    expect(shownLast([say.text('a'), patch('a', { blocks })], live)).toMatchObject([
      { kind: 'upsert', upsert: { status: 'create', content: '', blocks } },
    ]);
  });

  test('buffers its first words in the same way as later words', () => {
    for (const itemType of ['message', 'reasoning'] as const) {
      const start = { type: 'item_start', itemId: 'a', itemType, initialContent: 'Hi.' } as const;
      const { state, upserts } = foldRun([start]);
      expect(upserts).toEqual([]);
      expect(upsertsIn(flushIdle(state, nextFlushAt(state) ?? 0).outputs)).toHaveLength(1);
    }
  });

  test('is shown when it is idle, even if another text still grows', () => {
    const now = Date.UTC(2026, 0, 1);
    const both = runOf([
      say.text('a'),
      say.text('b'),
      say.delta('a', 'One'),
      say.delta('b', 'Two'),
    ]);
    const first = foldEvents(both.slice(0, 3), startUpsertFold(), now);
    const { state } = foldEvents(both.slice(3), first.state, now + 300);
    expect(nextFlushAt(state)).toBe(now + 1000);
    const flushed = flushIdle(state, now + 1000);
    expect(upsertsIn(flushed.outputs)).toMatchObject([{ itemId: 'a', content: 'One' }]);
    expect(nextFlushAt(flushed.state)).toBe(now + 1300);
  });

  test('of a thought that was never shown is first shown as created, then as completed', () => {
    const { upserts } = foldRun([say.text('a', 'reasoning'), say.reasoningDone('a', 'Hm.')]);
    expect(upserts.map(({ status }) => status)).toEqual(['create', 'complete']);
  });

  test('is not buffered after an empty delta', () => {
    const { state } = foldRun([...shown, say.delta('a', '')]);
    expect(nextFlushAt(state)).toBeUndefined();
  });

  test('without content is not shown when it is idle', () => {
    const { state } = foldRun([say.text('a'), patch('a', { raw: 1 })]);
    expect(nextFlushAt(state)).toBeUndefined();
  });
});

describe('a call', () => {
  const running = [say.callDone('call', 'Bash', 'one', {}), output('out', 'one')];

  test('is not shown again for empty output', () => {
    expect(shownLast([...running, say.delta('out', '')], live)).toEqual([]);
    expect(shownLast([...running, say.delta('out', 'a'), say.delta('out', '')], live)).toEqual([]);
  });

  test('is shown when its arguments are whole, but is not shown again when its output begins', () => {
    const [done, begun] = running;
    expect(shownLast([say.call('call', 'Bash', 'one'), done!], live)).toMatchObject([
      { upsert: { status: 'update', itemId: 'call' } },
    ]);
    expect(shownLast([done!, begun!], live)).toEqual([]);
  });

  test('has no result while its output grows', () => {
    const [output] = upsertsIn(shownLast([...running, say.delta('out', 'a')], live));
    expect(output).toMatchObject({ toolOutput: 'a' });
    expect(output).not.toHaveProperty('toolOutputIsError');
  });

  test('with the id of other calls is shown separately at its start, change and end', () => {
    const [first, second] = ['a', 'b'].map((id) => say.call(id, 'Bash', 'one'));
    const goesOn = say.callDone('b', 'Bash', 'one', {});
    const idsOf = (payloads: EventPayload[]) =>
      upsertsIn(shownLast(payloads, live)).map(({ itemId }) => itemId);
    expect(idsOf([first!, second!])).toEqual(['b']);
    expect(idsOf([first!, second!, goesOn])).toEqual(['b']);
    expect(idsOf([first!, second!, goesOn, say.outputDone('out', 'one', 'x')])).toEqual(['b']);
    const answered = [say.callDone('a', 'Bash', 'one', {}), say.outputDone('o', 'one', 'x')];
    expect(idsOf([...answered, second!])).toEqual(['b']);
  });

  test('is not shown while its arguments grow', () => {
    expect(shownLast([say.call('call', 'Bash'), say.delta('call', '{"a":1}')], live)).toEqual([]);
  });

  test('is shown a second time only at its end, if the readers get no deltas', () => {
    expect(shownLast([...running, say.delta('out', 'a')])).toEqual([]);
    expect(shownLast([...running, patch('out', { blocks })])).toEqual([]);
  });

  test('whose output has blocks but no text is shown with the blocks', () => {
    expect(shownLast([...running, patch('out', { blocks })], live)).toMatchObject([
      { kind: 'upsert', upsert: { itemId: 'call', toolOutput: '', outputBlocks: blocks } },
    ]);
  });

  test('with the id of other calls is shown with only its own output', () => {
    const both = [say.callDone('a', 'Bash', 'one', {}), say.callDone('b', 'Bash', 'one', {})];
    const grown = [output('out', 'one'), say.delta('out', 'x'), say.delta('out', 'y')];
    expect(shownLast([...both, ...grown], live)).toEqual([
      { kind: 'append', turnId: 'turn-1', itemId: 'b', at: 1, text: 'y' },
    ]);
  });

  test('that is a script also grows by its output', () => {
    const script: EventPayload = { type: 'script_execution_start', itemId: 's', code: '1' };
    const started: EventPayload = {
      type: 'item_start',
      itemId: 'out',
      itemType: 'script_execution_output',
      callId: 's',
    };
    const grown = [script, started, say.delta('out', 'x'), say.delta('out', 'y')];
    expect(shownLast(grown, live)).toMatchObject([{ kind: 'append', itemId: 's', at: 1 }]);
  });
});

test('the result of an unknown script is shown alone', () => {
  const done = { type: 'script_execution_done', itemId: 's', result: '1', success: true } as const;
  expect(upsertsIn(shownLast([done]))).toMatchObject([
    { type: 'tool_call', toolName: 'unknown', callId: 's', toolOutput: '1', toolArguments: {} },
  ]);
});

test('output of an unknown call is not shown before its end', () => {
  expect(shownLast([output('out', 'one'), say.delta('out', 'a')], live)).toEqual([]);
});

test('a plan is shown when its entries change, not for text deltas', () => {
  const start: EventPayload = { type: 'item_start', itemId: 'p', itemType: 'plan', entries: [] };
  const entries = [{ content: 'Do it', priority: 'high' as const, status: 'pending' as const }];
  expect(shownLast([start, say.delta('p', 'words')])).toEqual([]);
  expect(shownLast([start, patch('p', { entries })])).toMatchObject([
    { upsert: { status: 'update', entries } },
  ]);
});

test('deltas of unknown or ended items show nothing', () => {
  const done = say.messageDone('a', 'Hi.');
  expect(shownLast([done, say.delta('a', 'more')], live)).toEqual([]);
  expect(shownLast([done, say.delta('b', 'more')], live)).toEqual([]);
});

test('a delta of the ended output of an open call shows nothing', () => {
  const ended = [say.call('call', 'Bash', 'one'), say.outputDone('out', 'one', 'x')];
  expect(shownLast([...ended, say.delta('out', 'more')], live)).toEqual([]);
  expect(shownLast([...ended, patch('out', { blocks })], live)).toEqual([]);
});
