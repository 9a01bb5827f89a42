import type { EventDraft } from '@liminal/protocol';
import type { StoredTurn } from '../../provider.ts';
import { isConversation, typeOf } from './conversation.ts';
import { isRecord } from './fields.ts';
import type { AcpQuirks } from './quirks.ts';
import { AcpTranslator } from './translator.ts';

export interface ReplayOptions {
  cliType: string;
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
 * What `session/load` replayed, as whole turns: a message of the user's begins one. Turn ids are the agent's session id
 * and the turn's number, so that reading twice gives the same. Updates of the session's state are left alone.
 */
export function readReplay(
  updates: readonly ReplayedUpdate[],
  { cliType, quirks, agentSessionId }: ReplayOptions,
): StoredTurn[] {
  const turns: StoredTurn[] = [];
  let last: ReplayedUpdate | undefined;
  const createTurnId = (): string => `${agentSessionId}:${turns.length + 1}`;
  const emit = (draft: EventDraft): void => {
    if (turns.at(-1)?.turnId !== draft.turnId) turns.push({ turnId: draft.turnId, events: [] });
    turns.at(-1)?.events.push(draft);
  };
  const translator = new AcpTranslator({
    cliType,
    quirks,
    createTurnId,
    emit,
    update: () => undefined,
    isReplay: true,
  });
  const end = (): void => {
    if (last !== undefined) translator.finish({ stopReason: 'end_turn' }, last.timestamp);
  };
  for (const replayed of updates.filter(({ update }) => isConversation(update))) {
    if (beginsTurn(replayed.update, last?.update, quirks)) {
      end();
      translator.begin(createTurnId(), undefined, replayed.timestamp);
    }
    translator.read(replayed.update, replayed.timestamp);
    last = replayed;
  }
  end();
  return turns;
}

/** Pieces of one message stand together. */
function beginsTurn(update: unknown, before: unknown, quirks: AcpQuirks): boolean {
  if (typeOf(update) !== 'user_message_chunk') return false;
  if (typeOf(before) !== 'user_message_chunk' || quirks.wholeUserMessages === true) return true;
  const [id, idBefore] = [messageIdOf(update), messageIdOf(before)];
  return id !== undefined && idBefore !== undefined && id !== idBefore;
}

function messageIdOf(update: unknown): string | undefined {
  const id = isRecord(update) ? update['messageId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
