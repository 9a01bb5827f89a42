import { createClient, type LiminalClient, type SessionView } from '@liminal/client';
import { Wire } from './wire.ts';

/** How long a person takes to press “try again”, ms. */
const RETRY_MS = 300;

interface Place {
  ports: readonly number[];
  token: string;
  sessionId: string;
  /** The server it begins at. */
  at: number;
}

/** Somebody who watches a session with Liminal's own client, over a wire that breaks, stalls and leads to any server. */
export class Watcher {
  readonly #place: Place;
  readonly #wire: Wire;
  /** What it showed at some moments: views are never changed. */
  readonly seen: SessionView[] = [];
  /** What it must never be shown. */
  readonly faults: string[] = [];
  readonly #ends = new Map<string, string>();
  #client: LiminalClient;
  #retrying: NodeJS.Timeout | undefined;

  private constructor(place: Place, wire: Wire) {
    this.#place = place;
    this.#wire = wire;
    this.#client = this.#begin();
  }

  static async open(place: Place): Promise<Watcher> {
    return new Watcher(place, await Wire.open(place.ports, place.at));
  }

  get sessionId(): string {
    return this.#place.sessionId;
  }

  get view(): SessionView {
    return this.#client.session(this.sessionId).getSnapshot();
  }

  /** How it is connected, and where: for the report of a failure. */
  get place(): unknown[] {
    return [this.#client.connection.getSnapshot(), this.#wire.origin, this.#wire.leadsTo];
  }

  /** Keeps what it shows now, to be found again in the end. */
  remember(): void {
    this.seen.push(this.view);
  }

  /** Its connection breaks; it comes back to that server with its cursor. */
  drop(at: number): void {
    this.remember();
    this.#wire.cut(at);
  }

  /** It forgets everything and begins anew. */
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
    const client = createClient({ baseUrl: this.#wire.origin, token: this.#place.token });
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
    if (view.problem !== undefined) this.#retrying ??= setTimeout(() => this.#retry(), RETRY_MS);
  }

  #retry(): void {
    this.#retrying = undefined;
    if (this.view.problem !== undefined) void this.#client.session(this.sessionId).retry();
  }
}
