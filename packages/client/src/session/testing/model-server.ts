import type { HistoryPage, ServerMessage, TurnSummary, UpsertObject } from '@liminal/protocol';
import { head, message, sessionId, tool } from './items.ts';

/** One step in the session on the model server. */
export type Step =
  | { do: 'turn' }
  | { do: 'item'; kind: 'message' | 'tool' }
  | { do: 'text'; text: string }
  | { do: 'full' }
  | { do: 'finish-item' }
  | { do: 'discard' }
  | { do: 'end'; status: 'completed' | 'cancelled' };

const pageSize = 4;

/** A simple model of a session on the server. In the end, readers must have the same state as the model. */
export class ModelServer {
  readonly #turns: { head: TurnSummary; items: UpsertObject[] }[] = [];
  #events = 0;

  /** Performs a step. Returns the messages that subscribers receive. */
  step(step: Step): ServerMessage[] {
    const turn = this.#turns.at(-1);
    if (step.do === 'turn' || turn === undefined) return this.#begin();
    if (turn.head.status !== 'in_progress') return [];
    const index = turn.items.findLastIndex(({ status }) => status !== 'complete');
    const item = turn.items[index];
    switch (step.do) {
      case 'item': {
        const make = step.kind === 'tool' ? tool : message;
        const made = make(turn.head.turnId, `i${(this.#events += 1)}`);
        turn.items.push(made);
        return [this.#upsert(made)];
      }
      case 'text': {
        if (item?.type !== 'message' && item?.type !== 'tool_call') return [];
        const said = item.type === 'message' ? item.content : (item.toolOutput ?? '');
        const at = said.length;
        const grown = said + step.text;
        turn.items[index] =
          item.type === 'message'
            ? { ...item, content: grown, status: 'update' }
            : { ...item, toolOutput: grown, status: 'update' };
        const where = { turnId: turn.head.turnId, itemId: item.itemId, cursor: this.#cursor() };
        return [{ type: 'session:append', sessionId, at, text: step.text, ...where }];
      }
      case 'full':
        return item === undefined ? [] : [this.#upsert(item)];
      case 'finish-item': {
        if (item === undefined) return [];
        const done = { ...item, status: 'complete' } as const;
        turn.items[index] = done;
        return [this.#upsert(done)];
      }
      case 'discard': {
        if (item === undefined) return [];
        turn.items.splice(index, 1);
        const where = { turnId: turn.head.turnId, itemId: item.itemId, cursor: this.#cursor() };
        return [{ type: 'session:discard', sessionId, ...where }];
      }
      case 'end': {
        const { turnId } = turn.head;
        const status = step.status === 'completed' ? 'complete' : 'aborted';
        const finishReason = step.status === 'completed' ? 'max_tokens' : 'cancelled';
        turn.head = { ...turn.head, status, endedAt: 0, finishReason };
        const how = { status: step.status, finishReason };
        const payload = { type: 'turn_complete', turnId, sessionId, ...how } as const;
        return [{ type: 'session:turn', sessionId, payload, cursor: this.#cursor() }];
      }
    }
  }

  /** Returns an item's whole state at a cursor; empty if the item no longer exists. */
  full(of: { turnId: string; itemId: string; cursor: string }): ServerMessage[] {
    const turn = this.#turns.find(({ head: { turnId } }) => turnId === of.turnId);
    const item = turn?.items.find(({ itemId }) => itemId === of.itemId);
    return item === undefined ? [] : [{ ...this.#upsert(item), cursor: of.cursor }];
  }

  /**
   * Replies to a subscription: with a tail if the cursor is known and `preferTail` is set, otherwise with a snapshot.
   */
  subscribe(cursor: string, preferTail: boolean): ServerMessage {
    const known = this.#turns.findIndex(({ head: { turnId } }) => cursor.startsWith(`${turnId}:`));
    if (!preferTail || known < 0) return this.#history('snapshot', this.page());
    const turns = this.#turns.slice(known);
    return this.#history('tail', {
      turns: turns.map((turn) => turn.head),
      entries: turns.flatMap((turn) => turn.items),
      cursor: this.#cursor(),
      hasMore: false,
    });
  }

  /**
   * Returns a page of items, which may begin or end in the middle of a turn. As on the real server, items before the
   * newest page have ended, because the newest page contains the whole running turn.
   */
  page(before?: string): HistoryPage {
    const running = this.#turns.filter(({ head: { status } }) => status === 'in_progress');
    const ended = this.#turns.slice(0, this.#turns.length - running.length);
    const stored = ended.flatMap((turn) => turn.items);
    const end = before === undefined ? stored.length : Number(before);
    const start = Math.max(0, end - pageSize);
    const open = before === undefined ? running.flatMap((turn) => turn.items) : [];
    const entries = [...stored.slice(start, end), ...open];
    const named = new Set(entries.map((entry) => entry.turnId));
    const newest = before === undefined ? this.#turns.at(-1)?.head.turnId : undefined;
    const shown = this.#turns.filter(
      ({ head: { turnId } }) => named.has(turnId) || turnId === newest,
    );
    const more = { hasMore: start > 0, before: start > 0 ? String(start) : undefined };
    return { entries, turns: shown.map((turn) => turn.head), cursor: this.#cursor(), ...more };
  }

  #begin(): ServerMessage[] {
    const turnId = `t${this.#turns.length}`;
    const previous = this.#turns.at(-1);
    const ended =
      previous?.head.status === 'in_progress' ? this.step({ do: 'end', status: 'completed' }) : [];
    const asked = message(turnId, `${turnId}-user`, { origin: 'user', status: 'complete' });
    this.#turns.push({ head: head(turnId), items: [asked] });
    const payload = {
      type: 'turn_started',
      turnId,
      sessionId,
      modelId: 'm',
      providerId: 'p',
    } as const;
    return [
      ...ended,
      { type: 'session:turn', sessionId, payload, cursor: this.#cursor() },
      this.#upsert(asked),
    ];
  }

  #upsert(payload: UpsertObject) {
    return { type: 'session:upsert' as const, sessionId, payload, cursor: this.#cursor() };
  }

  #history(resumed: 'tail' | 'snapshot', page: HistoryPage): ServerMessage {
    return { type: 'session:history', sessionId, resumed, ...page };
  }

  #cursor(): string {
    const turn = this.#turns.at(-1);
    return turn === undefined ? '' : `${turn.head.turnId}:${(this.#events += 1)}`;
  }
}
