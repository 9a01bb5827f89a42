import type { UpsertObject } from '@liminal/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TurnUpserts } from './turn-upserts.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date', 'performance'] }));
afterEach(() => vi.useRealTimers());

test('each upsert has the date at which it was emitted', () => {
  const shown: UpsertObject[] = [];
  const upserts = new TurnUpserts(
    'session',
    (upsert) => shown.push(upsert),
    () => undefined,
  );
  vi.setSystemTime('2031-05-04T09:30:00.000Z');
  const head = { turnId: 'turn', timestamp: '2026-01-01T00:00:00.000Z' };
  upserts.push({
    ...head,
    payload: { type: 'response_start', modelId: 'model', providerId: 'provider' },
  });
  upserts.push({
    ...head,
    payload: {
      type: 'item_start',
      itemId: 'call',
      itemType: 'function_call',
      name: 'Read',
      callId: 'call-1',
    },
  });
  upserts.stop();
  expect(shown.map(({ emittedAt }) => emittedAt)).toEqual(['2031-05-04T09:30:00.000Z']);
});
