import type { SessionState, SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { updateSeen } from './unseen.ts';

const session = (sessionId: string, state: SessionState, rest = {}) =>
  ({ sessionId, state, ...rest }) as SessionSummary;
const none = { busy: [], unseen: [] };

it('a session that finished while it was not shown is unseen until it is opened', () => {
  const first = updateSeen(none, [session('a', 'running'), session('b', 'idle')], undefined);
  expect(first).toEqual({ busy: ['a'], unseen: [] });
  const ended = [session('a', 'idle'), session('b', 'idle')];
  const then = updateSeen(first, ended, 'b');
  expect(then).toEqual({ busy: [], unseen: ['a'] });
  expect(updateSeen(then, ended, 'b')).toEqual(then);
  expect(updateSeen(then, ended, 'a')).toEqual(none);
});

it('a session is also unseen if it failed, or if its request was answered in another window', () => {
  const before = { busy: ['a', 'b', 'c'], unseen: [] };
  const now = [session('a', 'failed'), session('b', 'idle'), session('c', 'waiting')];
  expect(updateSeen(before, now, undefined)).toEqual({ busy: ['c'], unseen: ['a', 'b'] });
});

it('a session that is shown, working, archived or deleted is not unseen', () => {
  const before = { busy: ['a'], unseen: ['b', 'c', 'd'] };
  const now = [
    session('a', 'idle'),
    session('b', 'running'),
    session('c', 'idle', { archived: true }),
  ];
  expect(updateSeen(before, now, 'a')).toEqual({ busy: ['b'], unseen: [] });
});
