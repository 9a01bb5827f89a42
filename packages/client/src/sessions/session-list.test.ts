import type { SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { applySessions, findSession, sortProjects } from './session-list.ts';

function session(sessionId: string, updatedAt: string, projectDir = '/code/shop'): SessionSummary {
  return {
    sessionId,
    cliType: 'demo',
    projectId: projectDir,
    projectDir,
    title: sessionId,
    createdAt: updatedAt,
    updatedAt,
    state: 'idle',
    isAlive: false,
    active: false,
    source: 'liminal',
  };
}

const two = applySessions(
  [],
  [session('a', '1'), session('b', '2'), session('c', '3', '/code/lib')],
);

it('sessions are listed by project, the newest first', () => {
  expect(two.map((project) => [project.name, project.sessions.map((s) => s.sessionId)])).toEqual([
    ['lib', ['c']],
    ['shop', ['b', 'a']],
  ]);
});

it('a changed session moves up, and other projects stay the same objects', () => {
  const next = applySessions(two, [{ ...session('a', '4'), state: 'running' }]);
  expect(next.map((project) => project.name)).toEqual(['shop', 'lib']);
  expect(next[0]?.sessions.map((s) => s.sessionId)).toEqual(['a', 'b']);
  expect(next[1]).toBe(two[0]);
  expect(findSession(next, 'a')?.state).toBe('running');
});

it('a removed session disappears, and so does its project if it is then empty', () => {
  const next = applySessions(two, [], ['c', 'b', 'unknown']);
  expect(next.map((project) => project.sessions.map((s) => s.sessionId))).toEqual([['a']]);
  expect(findSession(next, 'c')).toBeUndefined();
});

it('if an unknown session is removed, nothing changes', () => {
  expect(applySessions(two, [], ['unknown'])).toBe(two);
});

it('the server lists sessions in the same order', () => {
  const shuffled = two.toReversed().map((p) => ({ ...p, sessions: p.sessions.toReversed() }));
  expect(sortProjects(shuffled)).toEqual(two);
});
