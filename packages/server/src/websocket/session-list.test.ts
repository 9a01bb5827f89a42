import type { ServerMessage, SessionState, SessionSummary } from '@liminal/protocol';
import type { SessionsChange } from '@liminal/runtime';
import { beforeEach, expect, test } from 'vitest';
import { SessionListFeed } from './session-list.ts';

let notify: (change: SessionsChange) => void;
let watching: boolean;
let full: boolean;
let sent: ServerMessage[];
let feed: SessionListFeed;

beforeEach(() => {
  watching = true;
  full = false;
  sent = [];
  const watchSessions = (listener: typeof notify) => {
    notify = listener;
    return () => void (watching = false);
  };
  feed = new SessionListFeed(
    { subscribeToSessionList: watchSessions },
    () => full,
    (message) => sent.push(message),
  );
});

function session(sessionId: string, state: SessionState = 'idle'): SessionSummary {
  return {
    sessionId,
    state,
    cliType: 'demo',
    projectId: '/p',
    projectDir: '/p',
    title: '',
    createdAt: '',
    updatedAt: '',
    isAlive: false,
    active: true,
    source: 'liminal',
  };
}

test('a client without unsent messages gets every change', () => {
  notify({ sessions: [], removed: [] });
  notify({ sessions: [session('a')], removed: [] });
  notify({ sessions: [], removed: ['a'] });
  expect(sent).toEqual([
    { type: 'sessions:changed', sessions: [] },
    { type: 'sessions:changed', sessions: [session('a')] },
    { type: 'sessions:changed', sessions: [], removed: ['a'] },
  ]);
});

test('when a slow client has room again, it gets each changed session only once, in its last state', () => {
  notify({ sessions: [session('a'), session('b'), session('c')], removed: [] });
  full = true;
  notify({ sessions: [session('a', 'queued'), session('b', 'queued')], removed: [] });
  notify({ sessions: [session('a', 'running')], removed: ['b', 'c'] });
  notify({ sessions: [session('c', 'failed')], removed: [] });
  feed.drained();
  expect(sent).toHaveLength(1);
  full = false;
  feed.drained();
  feed.drained();
  expect(sent.slice(1)).toEqual([
    {
      type: 'sessions:changed',
      sessions: [session('a', 'running'), session('c', 'failed')],
      removed: ['b'],
    },
  ]);
});

test('a client that has disconnected gets no messages', () => {
  feed.close();
  expect(watching).toBe(false);
});
