import type { SessionState, SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { lookAgain } from './unseen.ts';

const session = (sessionId: string, state: SessionState, rest = {}) =>
  ({ sessionId, state, ...rest }) as SessionSummary;
const none = { busy: [], unseen: [] };

it('a session that finished while it was not shown is unseen until it is opened', () => {
  const first = lookAgain(none, [session('a', 'running'), session('b', 'idle')], undefined);
  expect(first).toEqual({ busy: ['a'], unseen: [] });
  const ended = [session('a', 'idle'), session('b', 'idle')];
  const then = lookAgain(first, ended, 'b');
  expect(then).toEqual({ busy: [], unseen: ['a'] });
  expect(lookAgain(then, ended, 'b')).toEqual(then);
  expect(lookAgain(then, ended, 'a')).toEqual(none);
});

it('a session that failed, or whose request was answered elsewhere, is also unseen', () => {
  const before = { busy: ['a', 'b', 'c'], unseen: [] };
  const now = [session('a', 'failed'), session('b', 'idle'), session('c', 'waiting')];
  expect(lookAgain(before, now, undefined)).toEqual({ busy: ['c'], unseen: ['a', 'b'] });
});

it('a shown, working, archived or deleted session is not unseen', () => {
  const before = { busy: ['a'], unseen: ['b', 'c', 'd'] };
  const now = [
    session('a', 'idle'),
    session('b', 'running'),
    session('c', 'idle', { archived: true }),
  ];
  expect(lookAgain(before, now, 'a')).toEqual({ busy: ['b'], unseen: [] });
});
