/** A translator whose output is recorded. */
import type { EventDraft } from '@liminal/protocol';
import type { SessionUpdate } from '../../../../contract/provider.ts';
import { AcpTranslator } from '../translator.ts';

export const timestamp = '2026-01-01T00:00:00.000Z';

export interface RecordedTranslator {
  translator: AcpTranslator;
  drafts: EventDraft[];
  updates: SessionUpdate[];
  /** Reads session updates. */
  send: (...updates: unknown[]) => void;
}

/** Starts a translator. The ids of turns that the agent begins by itself are own-1, own-2, … */
export function startTranslator(): RecordedTranslator {
  const drafts: EventDraft[] = [];
  const updates: SessionUpdate[] = [];
  let own = 0;
  const translator = new AcpTranslator({
    cliType: 'scripted',
    createTurnId: () => `own-${++own}`,
    emit: (draft) => drafts.push(draft),
    update: (update) => updates.push(update),
  });
  const send = (...received: unknown[]): void => {
    for (const update of received) translator.read(update, timestamp);
  };
  return { translator, drafts, updates, send };
}

/** Plays one turn, from the user's “Do it.” to the answer `end_turn`. */
export function recordTurn(updates: readonly unknown[]): RecordedTranslator {
  const recorded = startTranslator();
  recorded.translator.begin('turn', 'Do it.', timestamp);
  recorded.send(...updates);
  recorded.translator.finish({ stopReason: 'end_turn' }, timestamp);
  return recorded;
}

/** Returns the events of a turn that `recordTurn` plays. */
export const turnOf = (updates: readonly unknown[]): EventDraft[] => recordTurn(updates).drafts;
