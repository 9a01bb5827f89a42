/** The number and the limit of long-lived connections. */
export class Connections {
  readonly open = { websocket: 0, sse: 0 };
  /** Followed sessions over all connections. */
  subscriptions = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get full(): boolean {
    return this.open.websocket + this.open.sse >= this.#max;
  }

  /** Counts a connection; the result ends the count, once. */
  enter(kind: 'websocket' | 'sse'): () => void {
    this.open[kind] += 1;
    let left = false;
    return () => {
      if (!left) this.open[kind] -= 1;
      left = true;
    };
  }
}
