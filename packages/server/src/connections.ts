type ConnectionKind = 'websocket' | 'sse' | 'acpHttp';

/** Counts and limits the long-lived connections. */
export class Connections {
  /** `acpHttp` is the number of ACP connections over streamable HTTP, not the number of their requests. */
  readonly open: Record<ConnectionKind, number> = { websocket: 0, sse: 0, acpHttp: 0 };
  /** The number of session subscriptions of all connections. */
  subscriptions = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    const { websocket, sse, acpHttp } = this.open;
    return websocket + sse + acpHttp >= this.#max;
  }

  /**
   * Counts a connection. The caller must call the returned function when the connection ends. Further calls of this
   * function have no effect.
   */
  enter(kind: ConnectionKind): () => void {
    this.open[kind] += 1;
    let left = false;
    return () => {
      if (!left) this.open[kind] -= 1;
      left = true;
    };
  }
}
