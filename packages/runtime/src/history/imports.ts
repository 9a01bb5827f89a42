import type { StoredTurn } from '@liminal/agents';
import type { Response } from '@liminal/protocol';
import { emptyResponse, foldResponse, stampEvent, toResponse } from '@liminal/protocol';

/**
 * Converts turns from an agent's own store to history. Such turns have no trace, because they were never in the log.
 */
export function importTurns(sessionId: string, turns: readonly StoredTurn[]): Response[] {
  return turns.flatMap(({ turnId, events }) => {
    const run = { sessionId, runId: turnId, traceContext: { traceparent: noTrace } };
    const stamped = events.map((draft, seq) => stampEvent(draft, run, seq));
    const response = toResponse(stamped.reduce(foldResponse, emptyResponse()));
    return response ? { ...response, madeElsewhere: true } : [];
  });
}

const noTrace = `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`;
