import type { TurnView } from '@liminal/client';
import { expect, it } from 'vitest';
import { approval, tool } from '../transcript/testing/items.ts';
import { waitingRequests } from './waiting.ts';

function turn(status: TurnView['status'], items: TurnView['items']): TurnView {
  return { turnId: 't1', status, items };
}

const ids = (turns: TurnView[]) =>
  waitingRequests(turns).map(({ approval: one }) => one.approvalId);

it('waiting requests are sorted oldest first, and only requests of running turns are waiting', () => {
  const done = approval('p1', { status: 'complete', outcome: { outcome: 'cancelled' } });
  const items = [done, approval('p2'), approval('p3')];
  expect(ids([turn('in_progress', items)])).toEqual(['p2', 'p3']);
  expect(ids([turn('error', items)])).toEqual([]);
});

it('a request is returned with its call, even if the call is a subagent’s', () => {
  const below = tool('c2', { parentCallId: 'c1' });
  const items = [tool('c1'), below, approval('p1', { callId: 'c2' }), approval('p2')];
  expect(waitingRequests([turn('in_progress', items)]).map(({ call }) => call)).toEqual([
    below,
    undefined,
  ]);
});
