/** A translator whose output is recorded. */
import type { EventDraft } from '@liminal/protocol';
import type { SessionUpdate } from '../../../provider.ts';
import { AcpTranslator } from '../translator.ts';

export const timestamp = '2026-01-01T00:00:00.000Z';

export interface Hearing {
  translator: AcpTranslator;
  drafts: EventDraft[];
  updates: SessionUpdate[];
  /** Reads session updates. */
  hear: (...updates: unknown[]) => void;
}

/** The ids of turns that the agent begins by itself are own-1, own-2, … */
export function startHearing(): Hearing {
  const drafts: EventDraft[] = [];
  const updates: SessionUpdate[] = [];
  let own = 0;
  const translator = new AcpTranslator({
    cliType: 'scripted',
    createTurnId: () => `own-${++own}`,
    emit: (draft) => drafts.push(draft),
    update: (update) => updates.push(update),
  });
  const hear = (...said: unknown[]): void => {
    for (const update of said) translator.read(update, timestamp);
  };
  return { translator, drafts, updates, hear };
}

/** Plays one turn, from the user's “Do it.” to the answer `end_turn`. */
export function hearTurn(updates: readonly unknown[]): Hearing {
  const hearing = startHearing();
  hearing.translator.begin('turn', 'Do it.', timestamp);
  hearing.hear(...updates);
  hearing.translator.finish({ stopReason: 'end_turn' }, timestamp);
  return hearing;
}

/** The events of a turn that `hearTurn` plays. */
export const turnOf = (updates: readonly unknown[]): EventDraft[] => hearTurn(updates).drafts;
