import { escapeHiddenInJson, type SessionSummary } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface SessionsFlags {
  /** Only archived ones, which are left out otherwise. */
  archived?: boolean;
  json?: boolean;
}

/** Prints the sessions, also those in the agents' own stores: pinned ones first, then the newest. */
export async function listSessions(flags: SessionsFlags, config: Config): Promise<number> {
  const { client, close } = await connect(config);
  try {
    const projects = await client.requests.listProjects();
    const wanted = projects
      .flatMap(({ sessions }) => sessions)
      .filter(({ archived = false }) => archived === (flags.archived ?? false))
      .toSorted(inOrder);
    const print = flags.json ? jsonOf : lineOf;
    for (const session of wanted) console.log(print(session));
    return 0;
  } finally {
    await close();
  }
}

function inOrder(a: SessionSummary, b: SessionSummary): number {
  const pinned = Number(b.pinned ?? false) - Number(a.pinned ?? false);
  return pinned === 0 ? b.updatedAt.localeCompare(a.updatedAt) : pinned;
}

function jsonOf(session: SessionSummary): string {
  return escapeHiddenInJson(JSON.stringify(session));
}

function lineOf({
  sessionId,
  cliType,
  state,
  queuePaused,
  pinned,
  updatedAt,
  projectDir,
  title,
}: SessionSummary) {
  const marks = [
    state,
    ...(queuePaused === true ? ['queue paused'] : []),
    ...(pinned === true ? ['pinned'] : []),
  ].join(', ');
  const when = updatedAt.slice(0, 16).replace('T', ' ');
  return oneRow(`${sessionId}  ${when}  ${cliType}  ${marks}  ${projectDir}  ${title}`);
}
