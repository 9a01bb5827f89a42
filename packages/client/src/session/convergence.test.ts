import type { ServerMessage } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyMessage } from './apply-message.ts';
import { applyOlderPage } from './history.ts';
import { sessionId } from './testing/items.ts';
import { ModelServer, type Step } from './testing/model-server.ts';
import { emptyView, type SessionView } from './view.ts';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: 'turn' } as const) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('message' as const, 'tool' as const)
      .map((kind) => ({ do: 'item' as const, kind })),
  },
  {
    weight: 5,
    arbitrary: fc.string({ minLength: 1 }).map((text) => ({ do: 'text', text }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'full' } as const) },
  { weight: 2, arbitrary: fc.constant({ do: 'finish-item' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'discard' } as const) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('completed' as const, 'cancelled' as const)
      .map((status) => ({ do: 'end' as const, status })),
  },
);

type Action =
  | { kind: 'step'; step: Step }
  | { kind: 'deliver'; count: number }
  | { kind: 'skip-append' }
  | { kind: 'drop' }
  | { kind: 'resubscribe'; tail: boolean }
  | { kind: 'ask-older' }
  | { kind: 'get-older' };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: step.map((s) => ({ kind: 'step', step: s }) as const) },
  { weight: 4, arbitrary: fc.nat(6).map((count) => ({ kind: 'deliver', count }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'skip-append' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'drop' } as const) },
  { weight: 1, arbitrary: fc.boolean().map((tail) => ({ kind: 'resubscribe', tail }) as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'ask-older' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'get-older' } as const) },
);

/** A reader whose connection loses the messages that were not delivered, each time that the connection breaks. */
class Reader {
  view: SessionView = emptyView(sessionId);
  #way: ServerMessage[] = [];
  #connected = false;
  #older: { asked: string; page: ReturnType<ModelServer['page']> } | undefined;
  readonly #server: ModelServer;

  constructor(server: ModelServer) {
    this.#server = server;
    this.#subscribe(true);
  }

  do(what: Action): void {
    switch (what.kind) {
      case 'step': {
        const told = this.#server.step(what.step);
        if (this.#connected) this.#way.push(...told);
        return;
      }
      case 'deliver':
        return this.#deliver(what.count);
      case 'skip-append':
        return this.#skipAppend();
      case 'drop':
        this.#connected = false;
        this.#way = [];
        return;
      case 'resubscribe':
        return this.#subscribe(what.tail);
      case 'ask-older':
        if (this.view.before !== undefined) {
          this.#older = { asked: this.view.before, page: this.#server.page(this.view.before) };
        }
        return;
      case 'get-older':
        if (this.#older) this.view = applyOlderPage(this.view, this.#older.page, this.#older.asked);
    }
  }

  /** Reads all pages and messages, including the oldest page. */
  catchUp(): SessionView {
    if (!this.#connected) this.#subscribe(true);
    this.#deliver(Infinity);
    while (this.view.before !== undefined) {
      this.view = applyOlderPage(this.view, this.#server.page(this.view.before), this.view.before);
    }
    return this.view;
  }

  /**
   * Skips some appends: a slow reader may receive the newer state of an item instead. The newer state has the cursor of
   * the first skipped append, because with a later cursor undelivered messages would be lost if the connection breaks.
   */
  #skipAppend(): void {
    const index = this.#way.findIndex((told) => told.type === 'session:append');
    const skipped = this.#way[index];
    if (skipped?.type !== 'session:append') return;
    this.#way = this.#way.toSpliced(index, 1, ...this.#server.full(skipped));
  }

  #subscribe(tail: boolean): void {
    this.#connected = true;
    this.#way.push(this.#server.subscribe(this.view.cursor, tail));
  }

  #deliver(count: number): void {
    for (let left = count; left > 0 && this.#way.length > 0; left -= 1) {
      const wasSound = !this.view.needsResync;
      this.view = applyMessage(this.view, this.#way.shift()!, 0);
      if (wasSound && this.view.needsResync) this.#subscribe(true);
    }
  }
}

function conversation(view: SessionView): unknown {
  return view.turns.map((turn) => ({
    turnId: turn.turnId,
    status: turn.status,
    items: turn.items.map((item) => ('content' in item ? [item.itemId, item.content] : item)),
  }));
}

it('INV-7 after any lost messages, resubscriptions, lost appends and older pages, a reader ends with the same view as a new reader', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120, size: 'max' }), (actions) => {
      const server = new ModelServer();
      const reader = new Reader(server);
      for (const what of actions) reader.do(what);
      const fresh = new Reader(server);
      expect(conversation(reader.catchUp())).toEqual(conversation(fresh.catchUp()));
    }),
    { numRuns: 5000 },
  );
});
