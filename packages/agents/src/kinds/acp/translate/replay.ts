import type { StoredTurn } from '../../../contract/provider.ts';
import { isConversation } from './conversation.ts';
import { updateType } from './fields.ts';
import { isRecord } from './fields.ts';
import { AcpTranslator } from './translator.ts';

export interface ReplayedUpdate {
  /** `params.update` of a `session/update`, unparsed. */
  update: unknown;
  /** ISO 8601 UTC. */
  timestamp: string;
}

export interface ReplayOptions {
  cliType: string;
  /** The agent's own session id, from which turn ids are made. */
  agentSessionId: string;
}

/**
 * Converts the updates that `session/load` replays to whole turns; a user's message begins a turn. A turn's id is the
 * agent's session id and the turn's number, so that a second replay gives the same ids. Session state is skipped.
 */
export function readReplay(
  updates: readonly ReplayedUpdate[],
  { cliType, agentSessionId }: ReplayOptions,
): StoredTurn[] {
  const turns: StoredTurn[] = [];
  const createTurnId = (): string => `${agentSessionId}:${turns.length + 1}`;
  const translator = new AcpTranslator({
    cliType,
    createTurnId,
    emit: (draft) => {
      if (turns.at(-1)?.turnId !== draft.turnId) turns.push({ turnId: draft.turnId, events: [] });
      turns.at(-1)?.events.push(draft);
    },
    update: () => undefined,
    isReplay: true,
  });
  let last: ReplayedUpdate | undefined;
  for (const replayed of updates.filter(({ update }) => isConversation(update))) {
    if (isToolAnswer(replayed.update)) {
      // Keep this update with the item before it: a person has not written this message.
      translator.read({ toolAnswer: replayed.update }, replayed.timestamp);
      continue;
    }
    if (beginsTurn(replayed.update, last?.update)) {
      if (last !== undefined) translator.finish(endOfTurn, last.timestamp);
      translator.begin(createTurnId(), undefined, replayed.timestamp);
    }
    translator.read(replayed.update, replayed.timestamp);
    last = replayed;
  }
  if (last !== undefined) translator.finish(endOfTurn, last.timestamp);
  return turns;
}

/** Gemini CLI records that its model has received the tools' answers as a user's message of this form. */
const toolAnswer = /^(\[Function Response: [^\]]+\]\s*)+$/;

function isToolAnswer(update: unknown): boolean {
  if (updateType(update) !== 'user_message_chunk' || !isRecord(update)) return false;
  const { content } = update;
  return (
    isRecord(content) && typeof content['text'] === 'string' && toolAnswer.test(content['text'])
  );
}

const endOfTurn = { stopReason: 'end_turn' };

/** Returns whether an update begins a turn, that is, whether the update is the first chunk of a user's message. */
function beginsTurn(update: unknown, before: unknown): boolean {
  if (updateType(update) !== 'user_message_chunk' || isSteered(update)) return false;
  if (updateType(before) !== 'user_message_chunk') return true;
  const [id, idBefore] = [messageIdOf(update), messageIdOf(before)];
  return id !== undefined && idBefore !== undefined && id !== idBefore;
}

/** Returns whether Qwen Code marks a message as sent to a running turn. */
function isSteered(update: unknown): boolean {
  const meta = isRecord(update) ? update['_meta'] : undefined;
  return isRecord(meta) && meta['source'] === 'mid_turn_message_injected';
}

function messageIdOf(update: unknown): string | undefined {
  const id = isRecord(update) ? update['messageId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
