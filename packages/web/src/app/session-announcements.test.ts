import type { SessionState, SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { sessionAnnouncements } from './session-announcements.ts';

const session = (sessionId: string, state: SessionState) =>
  ({ sessionId, state, title: `Session ${sessionId}` }) as SessionSummary;

it('a session that is not shown is announced once when it starts to wait, finishes or fails', () => {
  const before = new Map<string, SessionState>([
    ['a', 'running'],
    ['b', 'running'],
    ['c', 'running'],
    ['d', 'waiting'],
    ['e', 'running'],
  ]);
  const now = [
    session('a', 'waiting'),
    session('b', 'failed'),
    session('c', 'failed'),
    session('d', 'waiting'),
    session('e', 'idle'),
    session('new', 'waiting'),
  ];
  expect(sessionAnnouncements(before, now, 'c')).toEqual([
    'Session a needs you.',
    'Session b has failed.',
    'Session e has finished.',
  ]);
  expect(sessionAnnouncements(new Map(now.map((s) => [s.sessionId, s.state])), now, 'c')).toEqual(
    [],
  );
});
