import { randomUUID } from 'node:crypto';
import type { Response, SessionSummary } from '@liminal/protocol';
import type { Board, Leases } from '@liminal/storage';
import type { RunEndNotifier } from '../history/index.ts';
import type { Cluster, SharedSession } from '../session/index.ts';
import type { SessionSubscribers } from '../subscribers/index.ts';
import type { Ownership } from './ownership.ts';
import { RemoteSubscribers } from './posted-state.ts';
import { postSettled } from './projector.ts';
import type { SessionStates } from './session-states.ts';
import type { SettledRuns } from './settled-runs.ts';

/**
 * How long the cluster remembers that a run was counted, in ms: servers that end the same run do so within a few
 * leases.
 */
const countedMs = 60 * 60_000;

interface PostedEndsOptions {
  board: Board;
  leases: Leases;
  onTrouble: (error: unknown) => void;
}

/** Notifies the other servers of runs whose end was written to history. */
export class PostedEnds implements RunEndNotifier {
  readonly #ends: PostedEndsOptions;

  constructor({ board, leases, onTrouble }: PostedEndsOptions) {
    this.#ends = { board, leases, onTrouble };
  }

  async notifyEndInHistory(run: { runId: string; sessionId: string }): Promise<void> {
    const { board, onTrouble } = this.#ends;
    await postSettled(board, run).catch(onTrouble);
  }

  async claimEndCount(runId: string): Promise<boolean> {
    const { leases, onTrouble } = this.#ends;
    try {
      // Each claim has a new holder, because even a single server may end a run twice.
      return (await leases.acquire(`counted:${runId}`, randomUUID(), countedMs)) !== undefined;
    } catch (error) {
      onTrouble(error);
      return false;
    }
  }
}

interface SessionClusterOptions extends PostedEndsOptions {
  ownership: Ownership;
  sessionStates: SessionStates;
  settled: SettledRuns;
}

/** The other servers of the cluster; used by the sessions of this server. */
export class SessionCluster extends PostedEnds implements Cluster {
  readonly #options: SessionClusterOptions;

  constructor(options: SessionClusterOptions) {
    super(options);
    this.#options = options;
  }

  subscribersOf(session: SharedSession): SessionSubscribers {
    const { board, onTrouble } = this.#options;
    return new RemoteSubscribers(board, session, () => this.fenceOf(session.sessionId), onTrouble);
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

  async holds(sessionId: string): Promise<boolean> {
    return this.#options.ownership.holds(sessionId);
  }

  async summaries(sessionIds: readonly string[]): Promise<Map<string, SessionSummary>> {
    return this.#options.sessionStates.summaries(sessionIds);
  }
}
