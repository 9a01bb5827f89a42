type ConnectionKind = 'websocket' | 'sse' | 'acpHttp';

/** The number and the limit of long-lived connections. */
export class Connections {
  /** `acpHttp` counts ACP connections over streamable HTTP; each has many requests. */
  readonly open: Record<ConnectionKind, number> = { websocket: 0, sse: 0, acpHttp: 0 };
  /** Session subscriptions of all connections. */
  subscriptions = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    const { websocket, sse, acpHttp } = this.open;
    return websocket + sse + acpHttp >= this.#max;
  }

  /** Counts a connection. Call the result when it ends; more calls have no effect. */
  enter(kind: ConnectionKind): () => void {
    this.open[kind] += 1;
    let left = false;
    return () => {
      if (!left) this.open[kind] -= 1;
      left = true;
    };
  }
}
