import {
  closeOpenItems,
  emptyResponse,
  type EventDraft,
  foldResponse,
  type Response,
  type ResponseState,
  stampEvent,
  toResponse,
} from '@liminal/protocol';
import { foldTurn } from '../../../testing/folding.ts';

/** Returns a turn with these events, as it is stored if the server ends during the turn. */
export function cutOff(drafts: readonly EventDraft[]): Response {
  const turnId = drafts[0]?.turnId ?? '';
  const run = {
    sessionId: 's',
    runId: turnId,
    traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
  };
  const fold = (state: ResponseState, draft: EventDraft): ResponseState =>
    foldResponse(state, stampEvent(draft, run, state.lastSeq + 1));
  const state = drafts.reduce(fold, emptyResponse());
  const error = { code: 'OWNER_LOST', message: 'The server stopped.' };
  const end = { type: 'response_error', error } as const;
  const payloads = [...closeOpenItems(state, { status: 'error', error }), end];
  const timestamp = drafts.at(-1)?.timestamp ?? '';
  const ended = payloads.map((payload) => ({ turnId, timestamp, payload })).reduce(fold, state);
  return toResponse(ended) ?? foldTurn(drafts, turnId);
}
