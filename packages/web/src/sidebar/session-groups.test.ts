import type { Project, SessionSummary } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { documentTitle } from '../app/use-document-mark.ts';
import { paletteGroups } from '../palette/palette-entries.ts';
import { groupSessions, needingYou, searchSessions } from './session-groups.ts';

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

it('sessions that wait for a person are listed from all projects, the one that has waited longest first', () => {
  expect(needingYou(projects).map((s) => s.sessionId)).toEqual(['fix login', 'bench']);
  const begunFirst = session('slow', { state: 'waiting', updatedAt: '1', waitingSince: '5' });
  const asked = needingYou([...projects, project('app', [begunFirst])]);
  expect(asked.map((s) => s.sessionId)).toEqual(['fix login', 'bench', 'slow']);
});

it('a search finds sessions whose title, agent or folder contains all searched words', () => {
  const found = (search: string) =>
    searchSessions(projects, search).flatMap((p) => p.sessions.map((s) => s.sessionId));
  expect(found('LOGIN shop')).toEqual(['fix login']);
  expect(found('demo')).toEqual(['bench']);
  expect(found('  ')).toEqual(['fix login', 'docs', 'bench']);
  expect(found('login demo')).toEqual([]);
});

it('each session is in only one group: pinned, archived, or the group of its project', () => {
  const marked = [
    project('shop', [
      session('old pin', { pinned: true, updatedAt: '1' }),
      session('plain'),
      session('put away', { archived: true, updatedAt: '1' }),
    ]),
    project('lib', [
      session('new pin', { pinned: true, updatedAt: '2' }),
      session('both', { pinned: true, archived: true, updatedAt: '2' }),
    ]),
  ];
  const { pinned, projects: rest, archived } = groupSessions(marked);
  const ids = (sessions: readonly SessionSummary[]) => sessions.map(({ sessionId }) => sessionId);
  expect(ids(pinned)).toEqual(['new pin', 'old pin']);
  expect(rest.map(({ name, sessions }) => [name, ids(sessions)])).toEqual([['shop', ['plain']]]);
  expect(ids(archived)).toEqual(['both', 'put away']);
});

it('the palette offers sessions that wait for a person, commands, and all other sessions', () => {
  const groups = paletteGroups(projects, { tabs: [], active: 'docs' }, false);
  expect(groups.map((group) => [group.value, group.items.map((item) => item.name)])).toEqual([
    ['Needs you', ['fix login', 'bench']],
    [
      'Commands',
      [
        'New session',
        'Import sessions from other tools',
        'Start page',
        'Keyboard shortcuts',
        'Close tab',
        'Pin this session',
        'Archive this session',
        'Delete this session…',
      ],
    ],
  ]);
});

it('the palette lists archived sessions last, and offers to unpin or unarchive the active session', () => {
  const put = session('put away', { archived: true, pinned: true });
  const all = [project('shop', [put, session('docs')])];
  const groups = paletteGroups(all, { tabs: [], active: 'put away' }, true);
  const names = groups.flatMap((group) => group.items.map((item) => item.name));
  expect(names).toContain('Unpin this session');
  expect(names).toContain('Unarchive this session');
  expect(names).toContain('Always allowed in this project…');
  const others = paletteGroups(all, { tabs: [] }, false);
  expect(others.map(({ value, items }) => [value, items.length]).slice(1)).toEqual([
    ['Sessions', 1],
    ['Archived', 1],
  ]);
});

it('the window title shows the state of the active session, or of another session that waits for a person', () => {
  expect(documentTitle(undefined, 'idle', 0)).toBe('Liminal');
  expect(documentTitle('docs', 'running', 0)).toBe('● docs – Liminal');
  expect(documentTitle('docs', 'running', 1)).toBe('◆ docs – Liminal');
  expect(documentTitle(undefined, 'idle', 2)).toBe('◆ (2) Liminal');
  expect(documentTitle('docs', 'idle', 0)).toBe('docs – Liminal');
  expect(documentTitle('docs', 'running', 0, 1)).toBe('✓ docs – Liminal');
  expect(documentTitle(undefined, 'idle', 0, 2)).toBe('✓ (2) Liminal');
  expect(documentTitle('docs', 'idle', 1, 2)).toBe('◆ docs – Liminal');
});

it('a session that waits for a person is in no other group', () => {
  const { projects: others, pinned, archived } = groupSessions(projects);
  const listed = [...pinned, ...archived, ...others.flatMap(({ sessions }) => sessions)];
  expect(listed.map(({ sessionId }) => sessionId)).toEqual(['docs']);
});
