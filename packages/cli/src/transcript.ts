/** A change of a session that is printed once. */
import type { JoinedTurn } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';

export type Line =
  /** An item in its last state. */
  | { kind: 'item'; item: UpsertObject }
  /** A waiting permission request. */
  | { kind: 'approval'; item: Extract<UpsertObject, { type: 'approval' }> }
  | { kind: 'turn'; turn: JoinedTurn };

/** Remembers what was printed, so that each item, request and turn is returned once. */
export class Transcript {
  readonly #said = new Set<string>();

  /** The lines not returned before. An item is returned when it, or its turn, has ended. */
  read({ turns }: { turns: readonly JoinedTurn[] }): Line[] {
    return turns.flatMap((turn) => this.#readTurn(turn));
  }

  #readTurn(turn: JoinedTurn): Line[] {
    const isOver = turn.status !== 'in_progress';
    const lines: Line[] = [];
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

  #once(key: string, line: Line): Line[] {
    if (this.#said.has(key)) return [];
    this.#said.add(key);
    return [line];
  }
}

function isFinished(item: UpsertObject): boolean {
  return item.status === 'complete' || item.status === 'error';
}
