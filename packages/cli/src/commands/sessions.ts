import { escapeHiddenInJson, type SessionSummary } from '@liminal/protocol';
import type { Config } from '../config/load.ts';
import { connect } from '../connect.ts';
import { oneRow } from '../terminal/rows.ts';

export interface SessionsFlags {
  /** List only archived sessions. By default, the list contains no archived sessions. */
  archived?: boolean;
  json?: boolean;
}

/** The least width of a terminal, in columns, at which the list shows model and cost of each session. */
const wide = 140;

/**
 * Prints the sessions, including the sessions in the agents' own stores: pinned sessions first, then all others, newest
 * first.
 */
export async function listSessions(flags: SessionsFlags, config: Config): Promise<number> {
  const { client, close } = await connect(config);
  try {
    const projects = await client.requests.listProjects();
    const wanted = projects
      .flatMap(({ sessions }) => sessions)
      .filter(({ archived = false }) => archived === (flags.archived ?? false))
      .toSorted(pinnedThenNewest);
    // Output that is not a terminal never gets the additional columns: programs rely on the position of the title.
    const isWide = process.stdout.isTTY && process.stdout.columns >= wide;
    for (const session of wanted) {
      console.log(flags.json ? sessionJson(session) : sessionLine(session, isWide));
    }
    return 0;
  } finally {
    await close();
  }
}

function pinnedThenNewest(a: SessionSummary, b: SessionSummary): number {
  const pinned = Number(b.pinned ?? false) - Number(a.pinned ?? false);
  return pinned === 0 ? b.updatedAt.localeCompare(a.updatedAt) : pinned;
}

function sessionJson(session: SessionSummary): string {
  return escapeHiddenInJson(JSON.stringify(session));
}

function sessionLine(session: SessionSummary, isWide: boolean): string {
  const { sessionId, cliType, state, queuePaused, pinned, updatedAt, projectDir, title } = session;
  const { model = '-', costUsd } = session;
  const marks = [
    state,
    ...(queuePaused === true ? ['queue paused'] : []),
    ...(pinned === true ? ['pinned'] : []),
  ].join(', ');
  const when = updatedAt.slice(0, 16).replace('T', ' ');
  const cost = costUsd === undefined ? '-' : `$${costUsd.toFixed(2)}`;
  const more = isWide ? [model, cost] : [];
  return oneRow([sessionId, when, cliType, marks, ...more, projectDir, title].join('  '));
}
