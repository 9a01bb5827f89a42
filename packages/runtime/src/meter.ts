/** What a server counts: told once for each thing that happens, by the server at which it happens. */
import { isServerTurn, type Response, type Usage } from '@liminal/protocol';

/** A turn that is over, in numbers. */
export interface MeteredTurn {
  /** The session's agent type. */
  cliType: string;
  modelId: string;
  status: 'complete' | 'error' | 'aborted';
  /** Of a turn that has failed. */
  errorCode?: string;
  /** From the turn's beginning, in which its agent has the message, to its end. */
  seconds: number;
  /** To the beginning of the agent's first words to people; absent if it said nothing. */
  firstTextSeconds?: number;
  usage?: Usage;
  /** What this turn has cost, in US dollars, where its agent tells. */
  costDollars?: number;
}

/** Where numbers are told to. It must not throw, and costs next to nothing. */
export interface Meter {
  /** Once for each turn, by the server that has written its end. */
  turnEnded(turn: MeteredTurn): void;
  /** A permission request is over, answered or not. */
  approvalEnded(cliType: string, seconds: number): void;
  /** The log has taken some events of a run. */
  appended(seconds: number): void;
  /** The log has refused some, or they could not even be given to it. */
  appendRefused(): void;
}

interface Costs {
  cliType: string;
  /** What the session had cost before, in US dollars; agents tell its total. */
  costBefore?: number | undefined;
}

/** A run's end in numbers; undefined if it has not ended, or is the server's own. Pure. */
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

/** An agent whose total has become less counts anew. */
function costOf(total: number | undefined, before = 0): number | undefined {
  if (total === undefined) return undefined;
  return total >= before ? total - before : total;
}

/** ms since the epoch. */
function firstTextAt({ outputItems }: Response): number | undefined {
  const said = outputItems.find((item) => item.type === 'message' && item.origin === 'agent');
  const at = Date.parse(said?.startedAt ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Clocks of agents and servers may differ a little. */
function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000;
}
