/** Long-lived connections: how many there are, and how many there may be. */
export class Connections {
  readonly open = { websocket: 0, sse: 0 };
  /** Sessions followed over all connections. */
  subscriptions = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get full(): boolean {
    return this.open.websocket + this.open.sse >= this.#max;
  }

  /** Counts a connection in; the result counts it out, once. */
  enter(kind: 'websocket' | 'sse'): () => void {
    this.open[kind] += 1;
    let left = false;
    return () => {
      if (!left) this.open[kind] -= 1;
      left = true;
    };
  }
}
