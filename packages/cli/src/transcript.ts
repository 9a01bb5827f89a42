/** A change of a session that is printed once. */
import type { JoinedTurn } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

export type TranscriptLine =
  /** An item in its final state. */
  | { kind: 'item'; item: UpsertObject }
  /** A waiting permission request. */
  | { kind: 'approval'; item: Extract<UpsertObject, { type: 'approval' }> }
  | { kind: 'turn'; turn: JoinedTurn };

/** Remembers what was printed, so that each item, request and turn is returned once. */
export class Transcript {
  readonly #returned = new Set<string>();

  /**
   * Returns the lines that earlier calls have not returned. An item is returned when the item or its turn has ended.
   */
  read({ turns }: { turns: readonly JoinedTurn[] }): TranscriptLine[] {
    return turns.flatMap((turn) => this.#readTurn(turn));
  }

  #readTurn(turn: JoinedTurn): TranscriptLine[] {
    const isOver = turn.status !== 'in_progress';
    const lines: TranscriptLine[] = [];
    for (const item of turn.items) {
      if (isFinished(item) || isOver)
        lines.push(...this.#once(item.itemId, { kind: 'item', item }));
      else if (item.type === 'approval') {
        lines.push(...this.#once(`${item.itemId}?`, { kind: 'approval', item }));
      }
    }
    if (isOver) lines.push(...this.#once(`turn ${turn.turnId}`, { kind: 'turn', turn }));
    return lines;
  }

  #once(key: string, line: TranscriptLine): TranscriptLine[] {
    if (this.#returned.has(key)) return [];
    this.#returned.add(key);
    return [line];
  }
}

function isFinished(item: UpsertObject): boolean {
  return item.status === 'complete' || item.status === 'error';
}
