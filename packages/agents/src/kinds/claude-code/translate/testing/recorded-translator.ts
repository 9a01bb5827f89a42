/** A translator with all its output. */
import type { EventDraft, Response } from '@liminal/protocol';
import { foldTurns } from '../../../../testing/folding.ts';
import { ClaudeTranslator } from '../translator.ts';

export const timestamp = '2026-01-01T00:00:00.000Z';

export interface RecordedTranslator {
  translator: ClaudeTranslator;
  all: EventDraft[];
  /** The drafts, except the message that says why the agent began a turn by itself. */
  drafts: EventDraft[];
  /** Reads Claude Code's messages. */
  send: (...messages: unknown[]) => void;
}

/** Starts a translator in the folder /project; turns that the agent begins by itself are unasked-1, unasked-2, … */
export function startTranslator(): RecordedTranslator {
  const all: EventDraft[] = [];
  const drafts: EventDraft[] = [];
  let unasked = 0;
  const translator = new ClaudeTranslator({
    cwd: '/project',
    createTurnId: () => `unasked-${++unasked}`,
    emit: (draft) => {
      all.push(draft);
      if (!isReason(draft)) drafts.push(draft);
    },
  });
  const send = (...received: unknown[]): void => {
    for (const message of received) translator.read(message, timestamp);
  };
  return { translator, all, drafts, send };
}

const isReason = ({ turnId, payload }: EventDraft): boolean =>
  'itemId' in payload && payload.itemId === `${turnId}:reason`;

/**
 * Translates messages as one complete turn that the agent began. Returns the turn in the form in which history stores
 * it.
 */
export function recordTurn(...messages: unknown[]): Response {
  const { translator, drafts, send: hear } = startTranslator();
  hear({ type: 'system', subtype: 'status', status: 'requesting' }, ...messages);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  return foldTurns(drafts).get('unasked-1')!;
}
