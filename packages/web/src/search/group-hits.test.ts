import { expect, it } from 'vitest';
import { groupHits } from './group-hits.ts';

const session = { cliType: 'demo', projectId: '/code/shop', title: 'Fix the login' };
const item = { runId: 'r', index: 3, itemId: 'i3', type: 'message' } as const;

it('groupHits groups hits in conversations by session, and leaves out hits in titles', () => {
  const groups = groupHits([
    { ...session, sessionId: 'a', snippet: 'Fix the login' },
    { ...session, sessionId: 'a', snippet: 'one', item },
    { ...session, sessionId: 'b', snippet: 'two', item },
    { ...session, sessionId: 'a', snippet: 'three', item: { ...item, index: 1, itemId: 'i1' } },
  ]);
  expect(groups.map((group) => [group.sessionId, group.hits.map((hit) => hit.target)])).toEqual([
    ['a', ['i3', 'i1']],
    ['b', ['i3']],
  ]);
});

it('a hit in the output of a call leads to the call', () => {
  const output = { ...item, type: 'function_call_output', callId: 'call-7' } as const;
  const [group] = groupHits([{ ...session, sessionId: 'a', snippet: '', item: output }]);
  expect(group?.hits).toEqual([{ key: 'a r:3', target: 'call-7', snippet: '', kind: 'Output' }]);
});
