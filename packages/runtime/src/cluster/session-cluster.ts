import type { Response, SessionSummary } from '@liminal/protocol';
import type { Board } from '@liminal/storage';
import type { RunWatchers } from '../history/index.ts';
import type { Cluster, Session } from '../session/index.ts';
import type { SessionReaders } from '../readers/index.ts';
import type { Ownership } from './ownership.ts';
import { PostedSession } from './posted-state.ts';
import { postSettled } from './projector.ts';
import type { SessionStates } from './session-states.ts';
import type { SettledRuns } from './settled-runs.ts';

/** Tells the other servers of runs that got their end in history. */
export class PostedEnds implements RunWatchers {
  readonly #board: Board;
  readonly #onTrouble: (error: unknown) => void;

  constructor(board: Board, onTrouble: (error: unknown) => void) {
    this.#board = board;
    this.#onTrouble = onTrouble;
  }

  async endInHistory(run: { runId: string; sessionId: string }): Promise<void> {
    await postSettled(this.#board, run).catch(this.#onTrouble);
  }
}

interface SessionClusterOptions {
  board: Board;
  ownership: Ownership;
  sessionStates: SessionStates;
  settled: SettledRuns;
  onTrouble: (error: unknown) => void;
}

/** The other servers, as the sessions of this one see them. */
export class SessionCluster extends PostedEnds implements Cluster {
  readonly #options: SessionClusterOptions;

  constructor(options: SessionClusterOptions) {
    super(options.board, options.onTrouble);
    this.#options = options;
  }

  readers(session: Session): SessionReaders {
    const { board, onTrouble } = this.#options;
    return new PostedSession(board, session, () => this.fenceOf(session.sessionId), onTrouble);
  }

  async project(run: Response, signal: AbortSignal): Promise<void> {
    await this.#options.settled.wait(run, signal);
  }

  fenceOf(sessionId: string): number | undefined {
    return this.#options.ownership.leaseOf(sessionId)?.token;
  }

  async owns(sessionId: string): Promise<boolean> {
    return this.#options.ownership.confirm(sessionId);
  }

  async summaries(sessionIds: readonly string[]): Promise<Map<string, SessionSummary>> {
    return this.#options.sessionStates.summaries(sessionIds);
  }
}
