import type { Project, SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { documentTitle } from '../app/use-document-mark.ts';
import { paletteGroups } from '../palette/palette-entries.ts';
import { needingYou, searchSessions } from './session-groups.ts';

function session(sessionId: string, rest: Partial<SessionSummary> = {}): SessionSummary {
  return {
    sessionId,
    cliType: 'claude-code',
    projectId: '/home/ann/shop',
    projectDir: '/home/ann/shop',
    title: sessionId,
    createdAt: '1',
    updatedAt: '1',
    state: 'idle',
    isAlive: false,
    active: false,
    source: 'liminal',
    ...rest,
  };
}

function project(name: string, sessions: SessionSummary[]): Project {
  return { projectId: name, projectDir: name, name, sessions };
}

const projects = [
  project('shop', [session('fix login', { state: 'waiting', updatedAt: '3' }), session('docs')]),
  project('lib', [session('bench', { state: 'waiting', updatedAt: '4', cliType: 'demo' })]),
];

it('sessions that need a person come from all projects, the longest waiting first', () => {
  expect(needingYou(projects).map((s) => s.sessionId)).toEqual(['fix login', 'bench']);
  const begunFirst = session('slow', { state: 'waiting', updatedAt: '1', waitingSince: '5' });
  const asked = needingYou([...projects, project('app', [begunFirst])]);
  expect(asked.map((s) => s.sessionId)).toEqual(['fix login', 'bench', 'slow']);
});

it('a search finds all of its words in title, agent or folder', () => {
  const found = (search: string) =>
    searchSessions(projects, search).flatMap((p) => p.sessions.map((s) => s.sessionId));
  expect(found('LOGIN shop')).toEqual(['fix login']);
  expect(found('demo')).toEqual(['bench']);
  expect(found('  ')).toEqual(['fix login', 'docs', 'bench']);
  expect(found('login demo')).toEqual([]);
});

it('the palette offers sessions that need a person, commands, and the other sessions', () => {
  const groups = paletteGroups(projects, { tabs: [], active: 'docs' });
  expect(groups.map((group) => [group.value, group.items.map((item) => item.name)])).toEqual([
    ['Needs you', ['fix login', 'bench']],
    [
      'Commands',
      ['New session', 'Look for sessions made elsewhere', 'Start page', 'Keys', 'Close tab'],
    ],
  ]);
});

it('the window title shows the session’s state, and that another one needs somebody', () => {
  expect(documentTitle(undefined, 'idle', 0)).toBe('Liminal');
  expect(documentTitle('docs', 'running', 0)).toBe('● docs – Liminal');
  expect(documentTitle('docs', 'running', 1)).toBe('◆ docs – Liminal');
  expect(documentTitle(undefined, 'idle', 2)).toBe('◆ (2) Liminal');
});
