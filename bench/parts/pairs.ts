import type { ServerMessage } from '@liminal/protocol';
import type { Connection } from './connection.ts';
import { type Figure, median, repeat } from './figure.ts';

/** So many that one run says the same as the next: single pairs differ by a quarter. */
const ROUNDS = 25;

/** Measures both in turn, ms, so that both meet the same machine; the first of each is not counted. */
export async function comparePairs(
  { name, atMost }: { name: string; atMost: number },
  bare: () => Promise<number>,
  ours: () => Promise<number>,
): Promise<Figure> {
  await bare();
  await ours();
  const pairs = await repeat(ROUNDS, async () => [await bare(), await ours()] as const);
  const [a, b] = [median(pairs.map(([x]) => x)), median(pairs.map(([, y]) => y))];
  const value = median(pairs.map(([x, y]) => y / x));
  const detail = `${Math.round(b)} ms against ${Math.round(a)} ms, medians of ${ROUNDS}; the ratio is that of each pair`;
  return { name, value, unit: '×', bound: { atMost }, detail };
}

/** ms from `clock` to the first character of the agent that a client sees; ends the session after the turn. */
export async function timeToFirstToken(
  connection: Connection,
  sessionId: string,
  clock: () => number,
): Promise<number> {
  const elapsed = await timeOfTurn(connection, sessionId, clock);
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

/** The same, in a session that goes on. */
export async function timeOfTurn(
  connection: Connection,
  sessionId: string,
  clock: () => number,
): Promise<number> {
  const first = Promise.withResolvers<number>();
  const ended = Promise.withResolvers<void>();
  const socket = await connection.follow(sessionId, (message) => {
    if (showsAgentText(message)) first.resolve(performance.now());
    if (message.type === 'session:turn' && message.payload.type !== 'turn_started') ended.resolve();
  });
  const start = clock();
  await connection.post(`${sessionId}/send`, { message: 'Hello' });
  const elapsed = (await first.promise) - start;
  await ended.promise;
  socket.close();
  return elapsed;
}

function showsAgentText(message: ServerMessage): boolean {
  return (
    message.type === 'session:upsert' &&
    message.payload.type === 'message' &&
    message.payload.origin === 'agent' &&
    message.payload.content !== ''
  );
}
