/** The events that a server counts. Each event is counted once, by the server on which it happens. */
import { isServerTurn, type Response, type Usage } from '@liminal/protocol';

/** The figures of a finished turn. */
export interface MeteredTurn {
  /** The session's agent type. */
  cliType: string;
  modelId: string;
  status: 'complete' | 'error' | 'aborted';
  /** Set only for a failed turn. */
  errorCode?: string;
  /** From the turn's start, when its agent has the message, to its end. */
  seconds: number;
  /** From the turn's start to the agent's first text for the user; absent if the agent wrote no text. */
  firstTextSeconds?: number;
  usage?: Usage;
  /** The cost of this turn in US dollars; absent if its agent does not report costs. */
  costDollars?: number;
}

/** Receives the counted figures. The methods must not throw, and must cost almost nothing. */
export interface Meter {
  /** Called once for each turn, on the server that has written the turn's end. */
  turnEnded(turn: MeteredTurn): void;
  /** Called when a permission request ends, answered or not. */
  approvalEnded(cliType: string, seconds: number): void;
  /** Called when the log has accepted events of a run. */
  appended(seconds: number): void;
  /** Called when the log has rejected events, or could not be reached. */
  appendRefused(): void;
}

interface Costs {
  cliType: string;
  /** The session's total cost before this turn, in US dollars: agents report the session's total. */
  costBefore?: number | undefined;
}

/** Returns the figures of a run; undefined if the run has not ended, or is a server turn. Pure. */
export function meterTurn(run: Response, { cliType, costBefore }: Costs): MeteredTurn | undefined {
  const { modelId, status, createdAt, updatedAt, usage, error } = run;
  const isOver = status === 'complete' || status === 'error' || status === 'aborted';
  if (!isOver || isServerTurn(run)) return undefined;
  const cost = costOf(usage?.costUsd, costBefore);
  const firstText = firstTextAt(run);
  return {
    cliType,
    modelId,
    status,
    seconds: secondsBetween(createdAt, updatedAt),
    ...(firstText !== undefined && { firstTextSeconds: secondsBetween(createdAt, firstText) }),
    ...(error && { errorCode: error.code }),
    ...(usage && { usage }),
    ...(cost !== undefined && { costDollars: cost }),
  };
}

/** Returns the cost of a turn. If the total is smaller than before, the agent has started counting from 0 again. */
function costOf(total: number | undefined, before = 0): number | undefined {
  if (total === undefined) return undefined;
  return total >= before ? total - before : total;
}

/** Returns the time of the agent's first text, in ms since the epoch; undefined if there is no text. */
function firstTextAt({ outputItems }: Response): number | undefined {
  const firstMessage = outputItems.find(
    (item) => item.type === 'message' && item.origin === 'agent',
  );
  const at = Date.parse(firstMessage?.startedAt ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/**
 * Returns the time between two times in ms, in seconds. The result is never negative, although the clocks of agents and
 * servers may differ a little.
 */
function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000;
}
