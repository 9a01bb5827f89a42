import type { EventDraft, EventPayload, TurnEvent, UpsertObject } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ProviderListeners } from './listeners.ts';

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

let listeners: ProviderListeners;
beforeEach(() => {
  vi.useFakeTimers();
  listeners = new ProviderListeners();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const emit = (...drafts: EventDraft[]) => {
  for (const one of drafts) listeners.emit('s1', one);
};
const gather = () => {
  const upserts: UpsertObject[] = [];
  const turns: TurnEvent[] = [];
  listeners.onUpsert('s1', (one) => upserts.push(one));
  listeners.onTurn('s1', (one) => turns.push(one));
  return { upserts, turns };
};

describe('what is emitted', () => {
  test('reaches those who listen to the session, added before it exists, until they unsubscribe', () => {
    const [mine, other] = [spy(), spy()];
    const unsubscribe = listeners.onEvent('s1', mine);
    listeners.onEvent('s2', other);

    emit(start);
    unsubscribe();
    unsubscribe();
    emit(end);

    expect(mine.mock.calls).toEqual([[start]]);
    expect(other).not.toHaveBeenCalled();
  });

  test('reaches a callback once for each time it was added', () => {
    const callback = spy();
    listeners.onEvent('s1', callback);
    const second = listeners.onEvent('s1', callback);
    emit(start);
    second();
    emit(end);

    expect(callback).toHaveBeenCalledTimes(3);
  });

  test('reaches the others when one throws, and the provider goes on', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const [update, exit] = [spy(), spy()];
    const broken = () => {
      throw new Error('broken listener');
    };
    listeners.onUpdate('s1', broken);
    listeners.onUpdate('s1', update);
    listeners.onExit('s1', broken);
    listeners.onExit('s1', exit);

    listeners.update('s1', { title: 'A title' });
    listeners.exit('s1', { expected: true });

    expect(update.mock.calls).toEqual([[{ title: 'A title' }]]);
    expect(exit.mock.calls).toEqual([[{ expected: true }]]);
    expect(warned).toHaveBeenCalledTimes(2);
  });

  test('reaches nobody after the session is dropped', () => {
    const callback = spy();
    listeners.onEvent('s1', callback);
    listeners.drop('s1');
    emit(start);

    expect(callback).not.toHaveBeenCalled();
  });

  test('reaches nobody after the provider is closed', () => {
    const callback = spy();
    listeners.onEvent('s1', callback);
    listeners.close();
    emit(start);

    expect(callback).not.toHaveBeenCalled();
  });
});

describe('upserts and turn events', () => {
  test('INV-4: show a turn from its start to its end', () => {
    const { upserts, turns } = gather();

    emit(start, begin, say('Hello'), finish('Hello'), end);

    expect(upserts.map(({ status }) => status)).toEqual(['create', 'complete']);
    expect(upserts[1]).toMatchObject({ type: 'message', content: 'Hello', sessionId: 's1' });
    expect(turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_complete']);
  });

  test('show buffered text when the source is silent, with one timer only then', () => {
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

  test('cost nothing while nobody listens for them', () => {
    const event = spy();
    listeners.onEvent('s1', event);

    emit(start, begin, say('Hello'));

    expect(event).toHaveBeenCalledTimes(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('INV-4: begin with the next turn for a listener that comes in mid-turn', () => {
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

  test('stop, timer included, with the last listener', () => {
    const heard = spy();
    const unsubscribe = listeners.onUpsert('s1', heard);
    emit(start, begin, say('Hello'));

    unsubscribe();

    expect(vi.getTimerCount()).toBe(0);
    emit(finish('Hello'), end);
    expect(heard).not.toHaveBeenCalled();
  });

  test('stop, timer included, when the session is dropped', () => {
    const { upserts } = gather();
    emit(start, begin, say('Hello'));

    listeners.drop('s1');

    expect(vi.getTimerCount()).toBe(0);
    expect(upserts).toEqual([]);
  });
});
