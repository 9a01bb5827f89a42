import type { ServerMessage } from '@liminal/protocol';
import type WebSocket from 'ws';
import type { Connection } from './connection.ts';
import { addedOf, type Figure, median, percentile, ratioOf, repeat } from './figure.ts';

/** The number of pairs. Single pairs differ by a quarter; with this number, two runs give about the same result. */
export const roundCount = 25;
/**
 * The time to the first token of a fast model. A model that answers at once shows best how much time Liminal adds; a
 * model of this speed shows the added time as a share of the user's wait.
 */
export const modelMs = 300;

interface Comparison {
  name: string;
  /** The bound: the most that Liminal may take as a multiple of the floor, or the most that it may add, in ms. */
  most: { ratio: number } | { addedMs: number };
  rounds?: number;
}

/** Measures both alternately, in ms, so that the machine's load is the same for both. The first pair is not counted. */
export async function comparePairs(
  { name, most, rounds = roundCount }: Comparison,
  bare: () => Promise<number>,
  ours: () => Promise<number>,
): Promise<Figure> {
  await bare();
  await ours();
  const pairs = await repeat(rounds, async () => ({ floor: await bare(), ours: await ours() }));
  const floor = pairs.map((pair) => pair.floor);
  const times = pairs.map((pair) => pair.ours);
  const ms = (of: (all: readonly number[]) => number): string =>
    `${of(times).toFixed(0)} ms against ${of(floor).toFixed(0)} ms`;
  const measured = `${ms(median)}, P95 ${ms((all) => percentile(all, 95))}, of ${rounds}`;
  if ('addedMs' in most)
    return { name, ...addedOf({ floor, ours: times }, 50, most.addedMs), detail: measured };
  const detail = `${measured}; the ratio is the median of the pairs’`;
  return { name, ...ratioOf(pairs, most.ratio), detail };
}

/**
 * Plays a turn; returns the ms from `clock` to the agent's first character at a client. Ends the session after the
 * turn.
 */
export async function timeToFirstToken(
  connection: Connection,
  sessionId: string,
  clock: () => number,
): Promise<number> {
  const open = await OpenSession.of(connection, sessionId);
  const elapsed = await open.timeOfTurn(clock);
  open.close();
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

/** A session with a subscribed client. */
export class OpenSession {
  readonly #connection: Connection;
  readonly #sessionId: string;
  #socket: WebSocket | undefined;
  #onMessage: (message: ServerMessage) => void = () => {};

  private constructor(connection: Connection, sessionId: string) {
    this.#connection = connection;
    this.#sessionId = sessionId;
  }

  static async of(connection: Connection, sessionId: string): Promise<OpenSession> {
    const open = new OpenSession(connection, sessionId);
    open.#socket = await connection.follow(sessionId, (message) => open.#onMessage(message));
    return open;
  }

  /** Sends a message; resolves when the turn is over, with the ms from `clock` to the agent's first character. */
  async timeOfTurn(clock: () => number, said = 'Hello'): Promise<number> {
    const first = Promise.withResolvers<number>();
    const ended = Promise.withResolvers<void>();
    this.#onMessage = (message) => {
      if (showsAgentText(message)) first.resolve(performance.now());
      if (message.type === 'session:turn' && message.payload.type !== 'turn_started')
        ended.resolve();
    };
    const start = clock();
    await this.#connection.post(`${this.#sessionId}/send`, { message: said });
    const elapsed = (await first.promise) - start;
    await ended.promise;
    return elapsed;
  }

  close(): void {
    this.#socket?.close();
  }
}

function showsAgentText(message: ServerMessage): boolean {
  return (
    message.type === 'session:upsert' &&
    message.payload.type === 'message' &&
    message.payload.origin === 'agent' &&
    message.payload.content !== ''
  );
}
