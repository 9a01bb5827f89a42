import type {
  ServerMessage,
  SessionInfo,
  ToolCallUpsert,
  TurnSummary,
  UpsertObject,
} from '@liminal/protocol';

export const sessionId = 's1';
const epoch = '2026-01-01T00:00:00.000Z';

type Message = Extract<UpsertObject, { type: 'message' }>;

/** Makes a message item, by default a message of the agent. */
export function message(turnId: string, itemId: string, rest: Partial<Message> = {}): Message {
  return {
    type: 'message',
    turnId,
    sessionId,
    itemId,
    sourceTimestamp: epoch,
    emittedAt: epoch,
    status: 'create',
    content: '',
    origin: 'agent',
    ...rest,
  };
}

/** Makes a tool call that has no output yet. */
export function tool(turnId: string, itemId: string, rest: Partial<ToolCallUpsert> = {}) {
  const { content: _, origin: __, ...base } = message(turnId, itemId);
  const call = { toolName: 'Bash', toolArguments: {}, callId: itemId };
  return { ...base, type: 'tool_call', ...call, ...rest } satisfies ToolCallUpsert;
}

export function head(turnId: string, rest: Partial<TurnSummary> = {}): TurnSummary {
  const status = 'in_progress';
  return { turnId, runId: turnId, modelId: 'm', providerId: 'p', status, startedAt: 0, ...rest };
}

export function info(rest: Partial<SessionInfo> = {}): SessionInfo {
  return {
    session: {
      sessionId,
      cliType: 'demo',
      projectId: '/p',
      projectDir: '/p',
      title: 'A session',
      createdAt: epoch,
      updatedAt: epoch,
      state: 'idle',
      isAlive: true,
      active: true,
      source: 'liminal',
    },
    queue: [],
    configOptions: [],
    commands: [],
    ...rest,
  };
}

export function upsert(payload: UpsertObject, cursor = 'c'): ServerMessage {
  return { type: 'session:upsert', sessionId, payload, cursor };
}

export function history(
  resumed: 'tail' | 'snapshot',
  turns: TurnSummary[],
  entries: UpsertObject[],
  rest: Partial<Extract<ServerMessage, { type: 'session:history' }>> = {},
): ServerMessage {
  const page = { entries, turns, cursor: 'c0', hasMore: false };
  return { type: 'session:history', sessionId, resumed, ...page, ...rest };
}
