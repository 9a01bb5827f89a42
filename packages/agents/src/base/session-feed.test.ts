import type { EventDraft, EventPayload, TurnEvent, UpsertObject } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SessionFeed } from './session-feed.ts';

const draft = (payload: EventPayload, turnId = 't1'): EventDraft => ({
  turnId,
  timestamp: '2026-01-01T00:00:00.000Z',
  payload,
});
const start = draft({ type: 'response_start', modelId: 'm', providerId: 'p' });
const begin = draft({ type: 'item_start', itemId: 'i1', itemType: 'message' });
const say = (deltaContent: string) => draft({ type: 'item_delta', itemId: 'i1', deltaContent });
const finish = (content: string) =>
  draft({
    type: 'item_done',
    itemId: 'i1',
    finalItem: { type: 'message', id: 'i1', content, origin: 'agent' },
  });
const end = draft({ type: 'response_done', status: 'completed' });

const spy = () => vi.fn<(value: unknown) => void>();

let feed: SessionFeed;
beforeEach(() => {
  vi.useFakeTimers();
  feed = new SessionFeed('s1');
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const emit = (...drafts: EventDraft[]) => {
  for (const one of drafts) feed.emit(one);
};
const gather = () => {
  const upserts: UpsertObject[] = [];
  const turns: TurnEvent[] = [];
  feed.on('upsert', (one) => upserts.push(one));
  feed.on('turn', (one) => turns.push(one));
  return { upserts, turns };
};

describe('emitted events', () => {
  test('an emitted event reaches listeners until they unsubscribe; a second unsubscribe does nothing', () => {
    const mine = spy();
    const unsubscribe = feed.on('event', mine);

    emit(start);
    unsubscribe();
    unsubscribe();
    emit(end);

    expect(mine.mock.calls).toEqual([[start]]);
  });

  test('an emitted event reaches a callback as often as the callback was added', () => {
    const callback = spy();
    feed.on('event', callback);
    const second = feed.on('event', callback);
    emit(start);
    second();
    emit(end);

    expect(callback).toHaveBeenCalledTimes(3);
  });

  test('an emitted event reaches the other callbacks when one throws, and does not throw in the provider', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const [update, exit] = [spy(), spy()];
    const broken = () => {
      throw new Error('broken listener');
    };
    feed.on('update', broken);
    feed.on('update', update);
    feed.on('exit', broken);
    feed.on('exit', exit);

    feed.update({ title: 'A title' });
    feed.exit({ expected: true });

    expect(update.mock.calls).toEqual([[{ title: 'A title' }]]);
    expect(exit.mock.calls).toEqual([[{ expected: true }]]);
    expect(warned).toHaveBeenCalledTimes(2);
  });

  test('an emitted event reaches no listener after the feed is closed', () => {
    const callback = spy();
    feed.on('event', callback);
    feed.close();
    emit(start);

    expect(callback).not.toHaveBeenCalled();
  });
});

describe('upserts and turn events', () => {
  test('INV-4: upserts and turn events show a turn from its start to its end', () => {
    const { upserts, turns } = gather();

    emit(start, begin, say('Hello'), finish('Hello'), end);

    expect(upserts.map(({ status }) => status)).toEqual(['create', 'complete']);
    expect(upserts[1]).toMatchObject({ type: 'message', content: 'Hello', sessionId: 's1' });
    expect(turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_complete']);
  });

  test('upserts show buffered text when the agent is silent; a timer runs only while text is buffered', () => {
    const { upserts } = gather();
    emit(start, begin);
    expect(vi.getTimerCount()).toBe(0);

    emit(say('Hello'));
    expect(vi.getTimerCount()).toBe(1);
    expect(upserts).toEqual([]);
    vi.advanceTimersByTime(1000);

    expect(upserts).toMatchObject([{ content: 'Hello', status: 'create' }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('upserts and turn events are not folded without a listener', () => {
    const event = spy();
    feed.on('event', event);

    emit(start, begin, say('Hello'));

    expect(event).toHaveBeenCalledTimes(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('INV-4: a listener that is added during a turn gets upserts and turn events from the next turn on', () => {
    const first = gather();
    emit(start, begin, say('Hello'));
    const late = gather();

    emit(finish('Hello'), end);
    expect(first.turns).toHaveLength(2);
    expect(late).toEqual({ upserts: [], turns: [] });

    const again = (one: EventDraft) => ({ ...one, turnId: 't2' });
    emit(again(start), again(begin), again(finish('Again')), again(end));
    expect(late.upserts).toMatchObject([
      { content: 'Again', turnId: 't2', status: 'create' },
      { content: 'Again', turnId: 't2', status: 'complete' },
    ]);
    expect(late.turns).toHaveLength(2);
  });

  test('upserts, turn events and the timer stop when the last listener leaves', () => {
    const heard = spy();
    const unsubscribe = feed.on('upsert', heard);
    emit(start, begin, say('Hello'));

    unsubscribe();

    expect(vi.getTimerCount()).toBe(0);
    emit(finish('Hello'), end);
    expect(heard).not.toHaveBeenCalled();
  });

  test('upserts, turn events and the timer stop when the feed is closed', () => {
    const { upserts } = gather();
    emit(start, begin, say('Hello'));

    feed.close();

    expect(vi.getTimerCount()).toBe(0);
    expect(upserts).toEqual([]);
  });
});
