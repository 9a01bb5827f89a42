import { createClient, type LiminalClient, type SessionView } from '@liminal/client';
import { Wire } from './wire.ts';

/** How long a user takes before pressing “try again”, in ms. */
const retryMs = 300;

interface SubscriberOptions {
  ports: readonly number[];
  token: string;
  sessionId: string;
  /** The server to which the client connects first. */
  at: number;
}

/**
 * Watches a session with Liminal's own client. The client's connection breaks and stalls, and may lead to any server.
 */
export class ChaosSubscriber {
  readonly #options: SubscriberOptions;
  readonly #wire: Wire;
  /** Views that were remembered. A view must never change. */
  readonly seen: SessionView[] = [];
  /** Faults that were found: states that must never be shown. */
  readonly faults: string[] = [];
  readonly #ends = new Map<string, string>();
  #client: LiminalClient;
  #retrying: NodeJS.Timeout | undefined;

  private constructor(place: SubscriberOptions, wire: Wire) {
    this.#options = place;
    this.#wire = wire;
    this.#client = this.#begin();
  }

  static async open(place: SubscriberOptions): Promise<ChaosSubscriber> {
    return new ChaosSubscriber(place, await Wire.open(place.ports, place.at));
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  get view(): SessionView {
    return this.#client.session(this.sessionId).getSnapshot();
  }

  /** Returns the connection's state and server, for the report of a failure. */
  get connectionState(): unknown[] {
    return [this.#client.connection.getSnapshot(), this.#wire.origin, this.#wire.leadsTo];
  }

  /** Remembers the current view. The verdict checks that this view has not changed. */
  remember(): void {
    this.seen.push(this.view);
  }

  /** Breaks the connection. The client reconnects to the given server with its cursor. */
  drop(at: number): void {
    this.remember();
    this.#wire.cut(at);
  }

  /** Forgets all state and starts again. */
  forget(): void {
    this.remember();
    this.#leave();
    this.#client = this.#begin();
  }

  async stall(ms: number): Promise<void> {
    await this.#wire.stall(ms);
  }

  async close(): Promise<void> {
    this.#leave();
    await this.#wire.close();
  }

  #begin(): LiminalClient {
    const client = createClient({ baseUrl: this.#wire.origin, token: this.#options.token });
    const store = client.session(this.sessionId);
    this.#ends.clear();
    store.subscribe(() => this.#look(store.getSnapshot()));
    return client;
  }

  #leave(): void {
    clearTimeout(this.#retrying);
    this.#retrying = undefined;
    this.#client.close();
  }

  #look(view: SessionView): void {
    for (const { turnId, status, error } of view.turns.slice(-5)) {
      const before = this.#ends.get(turnId);
      const now = `${status} ${error?.code ?? ''}`;
      if (before !== undefined && before !== now) {
        this.faults.push(`turn ${turnId} was ${before}, and then ${now}`);
      }
      if (status !== 'in_progress') this.#ends.set(turnId, now);
    }
    if (view.problem !== undefined) this.#retrying ??= setTimeout(() => this.#retry(), retryMs);
  }

  #retry(): void {
    this.#retrying = undefined;
    if (this.view.problem !== undefined) void this.#client.session(this.sessionId).retry();
  }
}
