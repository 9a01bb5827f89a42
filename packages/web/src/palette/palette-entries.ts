import { findSession, type Projects } from '@liminal/client';
import type { SessionSummary } from '@liminal/protocol';
import { altKey } from '../app/keys.ts';
import type { TabState } from '../app/tab-state.ts';
import type { ItemHit, SessionHits } from '../search/group-hits.ts';
import { needingYou } from '../sidebar/session-groups.ts';
import { shortPath } from '../words/paths.ts';

type PaletteAction = 'new-session' | 'agent-sessions' | 'keys' | 'close-tab' | 'home';
/** An action on a session. */
type SessionAction = 'pin' | 'unpin' | 'archive' | 'unarchive' | 'showGrants' | 'delete';

interface EntryBase {
  key: string;
  name: string;
  hint: string;
  /** The searched text. */
  text: string;
}

export type PaletteEntry = EntryBase &
  (
    | { kind: 'session'; session: SessionSummary }
    | { kind: 'command'; action: PaletteAction }
    | { kind: 'action'; sessionAction: SessionAction; session: SessionSummary }
    | { kind: 'hit'; sessionId: string; cliType: string; hit: ItemHit }
  );

export interface EntryGroup {
  value: string;
  items: PaletteEntry[];
}

/**
 * Returns the palette's entries: first the sessions that wait for a person, then the commands, then all other sessions,
 * the archived sessions last.
 * @param usesGrants - Whether the shown session's agent uses grants.
 */
export function paletteGroups(
  projects: Projects,
  places: TabState,
  usesGrants: boolean,
): EntryGroup[] {
  const waiting = needingYou(projects);
  const others = projects
    .flatMap((project) => project.sessions)
    .filter((session) => session.state !== 'waiting' && session.sessionId !== places.active)
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const active = findSession(projects, places.active ?? '');
  return [
    { value: 'Needs you', items: waiting.map(toEntry) },
    { value: 'Commands', items: [...commands(places), ...sessionActions(active, usesGrants)] },
    { value: 'Sessions', items: others.filter(({ archived }) => !archived).map(toEntry) },
    { value: 'Archived', items: others.filter(({ archived }) => archived).map(toEntry) },
  ].filter((group) => group.items.length > 0);
}

/** The number of hits that are offered for each session. */
const hitsOfOne = 3;

/** Returns the entries for hits in conversations. */
export function hitGroups(found: readonly SessionHits[]): EntryGroup[] {
  const items = found.flatMap(({ sessionId, cliType, title, hits }) =>
    hits.slice(0, hitsOfOne).map((hit): PaletteEntry => ({
      kind: 'hit',
      key: hit.key,
      name: hit.snippet,
      hint: title,
      text: hit.snippet,
      sessionId,
      cliType,
      hit,
    })),
  );
  return items.length === 0 ? [] : [{ value: 'In conversations', items }];
}

/** Whether an entry contains all searched words. A hit of the server's search always counts as found. */
export function isFound(entry: PaletteEntry, search: string): boolean {
  if (entry.kind === 'hit') return true;
  const text = entry.text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function commands(places: TabState): PaletteEntry[] {
  const always = [
    command('new-session', 'New session', altKey('N')),
    command('agent-sessions', 'Import sessions from other tools', ''),
    command('home', 'Start page', ''),
    command('keys', 'Keyboard shortcuts', '?'),
  ];
  return places.active === undefined
    ? always
    : [...always, command('close-tab', 'Close tab', altKey('W'))];
}

function command(action: PaletteAction, name: string, hint: string): PaletteEntry {
  return { kind: 'command', key: action, action, name, hint, text: name };
}

/** Returns the actions on the session that is shown. */
function sessionActions(session: SessionSummary | undefined, usesGrants: boolean): PaletteEntry[] {
  if (session === undefined) return [];
  const actionEntry = (name: string, done: SessionAction): PaletteEntry => ({
    kind: 'action',
    key: done,
    sessionAction: done,
    session,
    name,
    hint: '',
    text: name,
  });
  return [
    session.pinned
      ? actionEntry('Unpin this session', 'unpin')
      : actionEntry('Pin this session', 'pin'),
    session.archived
      ? actionEntry('Unarchive this session', 'unarchive')
      : actionEntry('Archive this session', 'archive'),
    ...(usesGrants ? [actionEntry('Always allowed in this project…', 'showGrants')] : []),
    actionEntry('Delete this session…', 'delete'),
  ];
}

function toEntry(session: SessionSummary): PaletteEntry {
  const hint = shortPath(session.projectDir);
  const { sessionId, title, cliType } = session;
  return {
    kind: 'session',
    key: sessionId,
    session,
    name: title,
    hint,
    text: `${title} ${hint} ${cliType}`,
  };
}
