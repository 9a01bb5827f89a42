import type { EventDraft } from '@liminal/protocol';
import type { StoredTurn } from '../../provider.ts';
import { isRecord } from './fields.ts';
import type { AcpQuirks } from './quirks.ts';
import { AcpTranslator } from './translator.ts';

export interface ReplayOptions {
  cliType: string;
  cwd: string;
  quirks: AcpQuirks;
  /** The agent's own id of the session: turn ids are made of it. */
  agentSessionId: string;
}

export interface ReplayedUpdate {
  /** `params.update` of a `session/update`, as it came. */
  update: unknown;
  /** ISO 8601 UTC. */
  timestamp: string;
}

/**
 * What `session/load` replayed, as whole turns: a user's message begins one. Turn ids are the agent's session id and
 * the turn's number, so that reading twice gives the same.
 */
export function readReplay(
  updates: readonly ReplayedUpdate[],
  options: ReplayOptions,
): StoredTurn[] {
  const events: EventDraft[] = [];
  let count = 0;
  const createTurnId = (): string => `${options.agentSessionId}:${++count}`;
  const { cliType, cwd, quirks } = options;
  const emit = (draft: EventDraft): number => events.push(draft);
  const translator = new AcpTranslator({ cliType, cwd, quirks, createTurnId, emit, update() {} });
  let timestamp = new Date(0).toISOString();
  for (const { update, timestamp: at } of updates) {
    timestamp = at;
    const isUsers = isRecord(update) && update['sessionUpdate'] === 'user_message_chunk';
    if (isUsers) translator.finish({ stopReason: 'end_turn' }, timestamp);
    translator.read(update, timestamp);
  }
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  const turnIds = [...new Set(events.map(({ turnId }) => turnId))];
  return turnIds.map((turnId) => ({
    turnId,
    events: events.filter((event) => event.turnId === turnId),
  }));
}
