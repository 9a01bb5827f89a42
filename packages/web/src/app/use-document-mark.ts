import type { Projects } from '@liminal/client';
import { findSession } from '@liminal/client';
import type { SessionState } from '@liminal/protocol';
import { useEffect } from 'react';
import { states, unseen } from '../look/states.ts';
import { needingYou } from '../sidebar/session-groups.ts';
import { useUnseenCount } from './use-unseen.ts';
import { labelOf } from '../words/label.ts';

/**
 * Shows a session's state in the window's title and icon: the state of a session that waits for a person, or, if no
 * session waits, of the active session.
 */
export function useDocumentMark(projects: Projects, active: string | undefined): void {
  const session = active === undefined ? undefined : findSession(projects, active);
  const [first, ...others] = needingYou(projects);
  const waiting = first === undefined ? 0 : others.length + 1;
  const ended = useUnseenCount();
  const state = waiting > 0 ? 'waiting' : (session?.state ?? 'idle');
  // The title contains the name of the session whose state the icon shows.
  const title = documentTitle((first ?? session)?.title, state, waiting, ended);
  const icon = state === 'idle' && ended > 0 ? 'ended' : state;

  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (link !== null) link.href = `data:image/svg+xml,${encodeURIComponent(faviconSvg(icon))}`;
  }, [icon]);
}

export function documentTitle(
  title: string | undefined,
  state: SessionState,
  waiting: number,
  ended = 0,
): string {
  const name = title === undefined ? 'Liminal' : `${labelOf(title)} – Liminal`;
  if (waiting > 0) return `${states.waiting.sign} ${waiting > 1 ? `(${waiting}) ` : ''}${name}`;
  if (ended > 0) return `${unseen.sign} ${ended > 1 ? `(${ended}) ` : ''}${name}`;
  return title === undefined ? name : `${states[state].sign} ${name}`.trim();
}

/** Returns an icon in the colour of a state. Each colour is visible on light and on dark tab bars. */
function faviconSvg(state: SessionState | 'ended'): string {
  const shape = {
    waiting: '<path d="M16 3 29 16 16 29 3 16Z" fill="#d98a15"/>',
    running:
      '<circle cx="16" cy="16" r="11" fill="none" stroke="#6b7ff0" stroke-width="4"/><circle cx="16" cy="16" r="5" fill="#6b7ff0"/>',
    queued:
      '<circle cx="16" cy="16" r="11" fill="none" stroke="#8a8f98" stroke-width="4" stroke-dasharray="6 5.5"/>',
    failed:
      '<circle cx="16" cy="16" r="13" fill="#dd4b4b"/><path d="M16 9v8m0 6v.01" stroke="#fff" stroke-width="4" stroke-linecap="round"/>',
    ended: '<circle cx="16" cy="16" r="9" fill="#6b7ff0"/>',
    idle: '<circle cx="16" cy="16" r="10" fill="none" stroke="#8a8f98" stroke-width="4"/>',
  }[state];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shape}</svg>`;
}
