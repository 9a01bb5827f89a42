import type {
  HistoryPage,
  ServerMessage,
  ToolCallUpsert,
  TurnSummary,
  UpsertObject,
} from '@liminal/protocol';
import { sessionId } from './stage.ts';

const base = () =>
  ({
    turnId: 't1',
    sessionId,
    sourceTimestamp: '2026-01-01T00:00:02.000Z',
    emittedAt: '2026-01-01T00:00:02.000Z',
    startedAt: '2026-01-01T00:00:00.000Z',
    status: 'create',
  }) as const;

type Message = Extract<UpsertObject, { type: 'message' }>;

export function message(itemId: string, content: string, rest: Partial<Message> = {}): Message {
  return { ...base(), type: 'message', itemId, content, origin: 'agent', ...rest };
}

export function tool(callId: string, rest: Partial<ToolCallUpsert> = {}): ToolCallUpsert {
  const call = {
    itemId: callId,
    callId,
    toolName: 'Bash',
    kind: 'execute',
    toolArguments: {},
  } as const;
  return { ...base(), type: 'tool_call', ...call, ...rest };
}

export function approval(approvalId: string, rest: Partial<UpsertObject> = {}): UpsertObject {
  const options = [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Deny', kind: 'reject_once' },
  ];
  const asked = { itemId: approvalId, approvalId, title: 'Run npm test', options };
  return { ...base(), type: 'approval', ...asked, ...rest } as UpsertObject;
}

export function turn(turnId: string, rest: Partial<TurnSummary> = {}): TurnSummary {
  const status = 'in_progress';
  return { turnId, runId: turnId, modelId: 'm', providerId: 'p', status, startedAt: 0, ...rest };
}

/** Makes a conversation with this message. The answer to the message has just started. */
export function begun(said: string): HistoryPage {
  const entries = [message('u', said, { origin: 'user', status: 'complete' })];
  return { entries, turns: [turn('t1')], cursor: 't1:0', hasMore: false };
}

export function upsert(payload: UpsertObject): ServerMessage {
  return { type: 'session:upsert', sessionId, payload, cursor: 'c' };
}

export function append(itemId: string, at: number, text: string): ServerMessage {
  return { type: 'session:append', sessionId, turnId: 't1', itemId, at, text, cursor: 'c' };
}

/** Makes the message for the end of a turn. */
export function ended(turnId: string): ServerMessage {
  const payload = { type: 'turn_complete', turnId, sessionId, status: 'completed' } as const;
  return { type: 'session:turn', sessionId, payload, cursor: 'c' };
}

export function failed(turnId: string, errorMessage: string): ServerMessage {
  const why = { errorCode: 'MODEL_UNAVAILABLE', errorMessage };
  const payload = { type: 'turn_error', turnId, sessionId, ...why } as const;
  return { type: 'session:turn', sessionId, payload, cursor: 'c' };
}
