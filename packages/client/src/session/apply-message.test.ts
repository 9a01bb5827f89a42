import type { ServerMessage } from '@liminal/protocol';
import { describe, expect, it } from 'vitest';
import { applyMessage } from './apply-message.ts';
import { applyOlderPage } from './history.ts';
import { head, history, info, message, sessionId, tool, upsert } from './testing/items.ts';
import { emptyView, type SessionView } from './view.ts';

const now = 1000;

function after(...messages: ServerMessage[]): SessionView {
  return messages.reduce((view, m) => applyMessage(view, m, now), emptyView(sessionId));
}

function contents(view: SessionView): string[] {
  return view.turns.flatMap((turn) =>
    turn.items.map((item) => ('content' in item ? item.content : item.itemId)),
  );
}

describe('history', () => {
  it('a snapshot replaces the whole view', () => {
    const view = after(
      history('snapshot', [head('t1')], [message('t1', 'a', { content: 'old' })]),
      history('snapshot', [head('t2')], [message('t2', 'b', { content: 'new' })]),
    );
    expect(contents(view)).toEqual(['new']);
    expect(view.phase).toBe('ready');
  });

  it('a tail replaces the turns that it contains, and removes items that these turns no longer contain', () => {
    const one = message('t1', 'a', { content: 'kept' });
    const view = after(
      history('snapshot', [head('t1'), head('t2')], [one, message('t2', 'b'), message('t2', 'c')]),
      history(
        'tail',
        [head('t2'), head('t3')],
        [message('t2', 'b', { content: 'more' }), message('t3', 'd', { content: 'next' })],
      ),
    );
    expect(contents(view)).toEqual(['kept', 'more', 'next']);
  });

  it('after a reconnect, everything that has not changed is still the same object', () => {
    const entries = [message('t1', 'a', { content: 'x' }), message('t2', 'b', { content: 'y' })];
    const before = after(history('snapshot', [head('t1'), head('t2')], entries));
    const again = [{ ...entries[0]!, emittedAt: 'later' }, message('t2', 'b', { content: 'yz' })];
    const next = applyMessage(before, history('snapshot', [head('t1'), head('t2')], again), now);
    expect(next.turns[0]).toBe(before.turns[0]);
    expect(next.turns[1]).not.toBe(before.turns[1]);
  });

  it('an older page is put in front of the loaded turns, and completes a turn that the page boundary had split', () => {
    const view = after(
      history('snapshot', [head('t2')], [message('t2', 'c', { content: '3' })], {
        hasMore: true,
        before: 'mark',
      }),
    );
    const page = {
      entries: [message('t1', 'a', { content: '1' }), message('t2', 'b', { content: '2' })],
      turns: [head('t1'), head('t2')],
      cursor: 'c0',
      hasMore: false,
    };
    const joined = applyOlderPage(view, page, 'mark');
    expect(contents(joined)).toEqual(['1', '2', '3']);
    expect(joined.hasMore).toBe(false);
    expect(applyOlderPage(joined, page, 'mark')).toBe(joined);
  });
});

describe('live messages', () => {
  it('an upsert replaces its item and changes no other item', () => {
    const before = after(
      history('snapshot', [head('t1'), head('t2')], [message('t1', 'a'), message('t2', 'b')]),
      upsert(message('t2', 'c', { content: 'one' })),
    );
    const next = applyMessage(before, upsert(message('t2', 'c', { content: 'one two' })), now);
    expect(contents(next)).toEqual(['', '', 'one two']);
    expect(next.turns[0]).toBe(before.turns[0]);
    expect(next.turns[1]?.items[0]).toBe(before.turns[1]?.items[0]);
  });

  it('an append adds its text at the length that the append gives', () => {
    const view = after(
      upsert(message('t1', 'a', { content: 'Hel' })),
      append('a', 3, 'lo', 'c2'),
      append('a', 5, '!', 'c3'),
    );
    expect(contents(view)).toEqual(['Hello!']);
    expect(view.cursor).toBe('c3');
  });

  it('an append that does not fit requests a resync, and the cursor does not move', () => {
    const view = after(
      history('snapshot', [head('t1')], [message('t1', 'a', { content: 'Hel' })]),
      append('a', 9, 'lost', 'c9'),
      upsert(message('t1', 'b'), 'c10'),
    );
    expect(view.needsResync).toBe(true);
    expect(view.cursor).toBe('c0');
    const healed = applyMessage(view, history('tail', [head('t1')], [message('t1', 'a')]), now);
    expect(healed.needsResync).toBe(false);
  });

  it('a discarded item is removed', () => {
    const view = after(upsert(message('t1', 'a', { content: 'try 1' })), {
      type: 'session:discard',
      sessionId,
      turnId: 't1',
      itemId: 'a',
      cursor: 'c2',
    });
    expect(contents(view)).toEqual([]);
    expect(view.turns).toHaveLength(1);
  });

  it('a turn’s status is `running` from its start on, and at its end the status of that end', () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const running = after(turn({ type: 'turn_started', modelId: 'm', providerId: 'p' }));
    expect(running.turns[0]).toMatchObject({ status: 'in_progress', startedAt: now });
    expect(running.turns[0]?.trigger).toBeUndefined();
    const start = { type: 'turn_started', modelId: 'm', providerId: 'p' } as const;
    const unasked = after(turn({ ...start, trigger: 'agent' }));
    expect(unasked.turns[0]?.trigger).toBe('agent');
    expect(applyMessage(unasked, turn(start), 9).turns[0]?.trigger).toBe('agent');
    const done = applyMessage(
      running,
      turn({ type: 'turn_complete', status: 'completed', usage }),
      9,
    );
    expect(done.turns[0]).toMatchObject({ status: 'complete', endedAt: 9, usage });
    const cut = turn({ type: 'turn_complete', status: 'completed', finishReason: 'max_tokens' });
    const short = applyMessage(running, cut, 9);
    expect(short.turns[0]).toMatchObject({ status: 'complete', finishReason: 'max_tokens' });
    const again = turn({ type: 'turn_started', modelId: 'm', providerId: 'p' });
    expect(applyMessage(short, again, 9).turns[0]?.finishReason).toBeUndefined();
    const cancelled = applyMessage(
      running,
      turn({ type: 'turn_complete', status: 'cancelled' }),
      9,
    );
    expect(cancelled.turns[0]?.status).toBe('aborted');
    const failed = turn({ type: 'turn_error', errorCode: 'X', errorMessage: 'why' });
    expect(applyMessage(running, failed, 9).turns[0]).toMatchObject({
      status: 'error',
      error: { code: 'X', message: 'why' },
    });
  });

  it('an error before the first history is fatal; an error after it is not', () => {
    const error = { type: 'session:error', sessionId, code: 'X', message: 'why' } as const;
    expect(after(error).phase).toBe('failed');
    expect(after(history('snapshot', [], []), error)).toMatchObject({
      phase: 'ready',
      problem: { code: 'X' },
    });
  });

  it('messages of other sessions change nothing', () => {
    const view = after(history('snapshot', [], []));
    const other = { type: 'session:info', sessionId: 'other', info: info() } as const;
    expect(applyMessage(view, other, now)).toBe(view);
  });
});

describe('a tool’s output', () => {
  it('a tool’s output in its call grows by appends, and the other fields of the call do not change', () => {
    const call = tool('t1', 'call', { toolArguments: { command: 'ls' } });
    const view = after(
      history('snapshot', [head('t1')], [call]),
      append('call', 0, 'a\n', 'c1'),
      append('call', 2, 'b\n', 'c2'),
    );
    expect(view.turns[0]?.items).toEqual([{ ...call, toolOutput: 'a\nb\n', status: 'update' }]);
    expect(view).toMatchObject({ cursor: 'c2', needsResync: false });
  });

  it('a tool’s output is requested again if a part of it is missing', () => {
    const view = after(
      history('snapshot', [head('t1')], [tool('t1', 'call', { toolOutput: 'a' })]),
      append('call', 2, 'c', 'c1'),
    );
    expect(view).toMatchObject({ needsResync: true, cursor: 'c0' });
  });

  it('an append to a tool’s output is ignored if the item is a plan', () => {
    const plan = { ...message('t1', 'plan'), type: 'plan' as const, entries: [] };
    const view = after(history('snapshot', [head('t1')], [plan]), append('plan', 0, 'x', 'c1'));
    expect(view.needsResync).toBe(true);
  });
});

function append(itemId: string, at: number, text: string, cursor: string): ServerMessage {
  return { type: 'session:append', sessionId, turnId: 't1', itemId, at, text, cursor };
}

type TurnPayload = Extract<ServerMessage, { type: 'session:turn' }>['payload'];
type WithoutIds<T> = T extends unknown ? Omit<T, 'turnId' | 'sessionId'> : never;

function turn(payload: WithoutIds<TurnPayload>): ServerMessage {
  const whole: TurnPayload = { ...payload, turnId: 't1', sessionId };
  return { type: 'session:turn', sessionId, payload: whole, cursor: 'c' };
}
