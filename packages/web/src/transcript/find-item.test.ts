import type { UpsertObject } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { findItemId } from './find-item.ts';
import { approval, text, tool } from './testing/items.ts';

const turn = (turnId: string, items: UpsertObject[]) =>
  ({ turnId, status: 'complete', items }) as const;

const turns = [
  turn('t1', [text('m1')]),
  turn('t2', [
    tool('c1', { itemId: 'c1' }),
    tool('c2', { itemId: 'c2', parentCallId: 'c1' }),
    text('m2', { parentCallId: 'c2' }),
    approval('p1', { callId: 'c2' }),
  ]),
];

it('an item is found by its own id', () => {
  expect(['m1', 'm2', 'p1', 'unknown'].map((id) => findItemId(turns, id))).toEqual([
    'm1',
    'm2',
    'p1',
    undefined,
  ]);
});

it('a call is also found by the agent’s call id', () => {
  const renamed = [turn('t', [tool('c1', { itemId: 'item-9' })])];
  expect(findItemId(renamed, 'c1')).toBe('item-9');
});

it('a turn’s id finds its first item', () => {
  expect(['t2', 't3'].map((id) => findItemId([...turns, turn('t3', [])], id))).toEqual([
    'c1',
    undefined,
  ]);
});

it('if a later turn repeats a call, the id of the call and the id of its question lead to the later turn', () => {
  const cancelled = { outcome: 'cancelled', reason: 'turn_ended' } as const;
  const question = { callId: 'c1', status: 'complete', outcome: cancelled } as const;
  const cut = {
    ...turn('t1', [tool('c1', { status: 'error' }), approval('p1', question)]),
    status: 'error',
    error: { code: 'OWNER_LOST', message: '' },
  } as const;
  const again = tool('c1', { itemId: 't2:c1' });
  const next = { ...turn('t2', [again]), trigger: 'agent' } as const;
  expect(['item-c1', 'p1', 't2:c1'].map((id) => findItemId([cut, next], id))).toEqual([
    't2:c1',
    't2:c1',
    't2:c1',
  ]);
});

it('the id of a call inside a script leads to the later turn that repeats the script', () => {
  const cancelled = { outcome: 'cancelled', reason: 'turn_ended' } as const;
  const script = (turnId: string) => [
    tool('c1', { itemId: `${turnId}:c1`, toolName: 'run_script', status: 'create' }),
    tool(`${turnId}:s`, { toolName: 'script', parentCallId: 'c1', status: 'create' }),
  ];
  const asking = tool('t1:s:1', { parentCallId: 't1:s', status: 'error' });
  const question = approval('p1', { callId: 't1:s:1', status: 'complete', outcome: cancelled });
  const cut = {
    ...turn('t1', [...script('t1'), asking, question]),
    status: 'error',
    error: { code: 'OWNER_LOST', message: '' },
  } as const;
  const next = { ...turn('t2', script('t2')), trigger: 'agent' } as const;
  expect(['t1:c1', 't1:s', 't1:s:1', 'p1'].map((id) => findItemId([cut, next], id))).toEqual(
    Array(4).fill('t2:c1'),
  );
});
