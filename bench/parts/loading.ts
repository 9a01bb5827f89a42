/** A session that was led here before, opened again. */
import type { Connection } from './connection.ts';
import { type Figure, repeat } from './figure.ts';
import { type LiminalServer, startLiminalServer } from './liminal-server.ts';
import { comparePairs, OpenSession, timeToFirstToken } from './pairs.ts';

interface Place {
  dataDir: string;
  env: Record<string, string>;
}

interface Loading {
  agent: string;
  /** What the bare program is called. */
  against: string;
  /** Leads a session through some turns; gives its id. */
  lead: (server: LiminalServer) => Promise<string>;
  /** ms that the bare program takes to a session's history, and to the first token of a message to it. */
  bareHistory: () => Promise<number>;
  bareFirstToken: () => Promise<number>;
}

/**
 * What a server's first work may cost, against the bare program, ×: its code is compiled, and what was done outside of
 * it is looked for, for which Codex is started once more. The bare program does neither.
 */
const JUST_STARTED = 3;

/** Leads a session through some turns, and ends its agent. */
export async function leadTurns(
  connection: Connection,
  sessionId: string,
  turns: number,
): Promise<void> {
  const session = await OpenSession.of(connection, sessionId);
  await repeat(turns, () => session.timeOfTurn(() => performance.now()));
  session.close();
  await connection.post(`${sessionId}/kill`, {});
}

/** ms from loading a session to a client's having its history; ends its agent, if it has one by then. */
async function timeToHistory(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  const socket = await connection.follow(sessionId, () => {});
  const elapsed = performance.now() - start;
  socket.close();
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

/** ms from loading a session to the answer's first character at a client that follows it; ends its agent. */
async function loadToFirstToken(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  return timeToFirstToken(connection, sessionId, () => start);
}

/** A session with some turns, opened again: in a server that runs, and in one that has just been started. */
export async function* compareLoading(
  place: Place,
  { agent, against, lead, bareHistory, bareFirstToken }: Loading,
): AsyncGenerator<Figure> {
  const server = await startLiminalServer(place.dataDir, place.env);
  let sessionId = '';
  try {
    sessionId = await lead(server);
    yield await comparePairs(
      { name: `${agent}: load to its history, against ${against}`, atMost: 1.1 },
      bareHistory,
      () => timeToHistory(server.connection, sessionId),
    );
    yield await comparePairs(
      { name: `${agent}: load and send to first token, against ${against}`, atMost: 1.1 },
      bareFirstToken,
      () => loadToFirstToken(server.connection, sessionId),
    );
  } finally {
    await server.process.end();
  }
  yield await comparePairs(
    {
      name: `${agent}: load and send to first token, in a server just started, against ${against}`,
      atMost: JUST_STARTED,
    },
    bareFirstToken,
    () => afterRestart(place, (connection) => loadToFirstToken(connection, sessionId)),
  );
}

/** Does something with a server that has just been started. */
async function afterRestart<T>(
  { dataDir, env }: Place,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const server = await startLiminalServer(dataDir, env);
  try {
    return await work(server.connection);
  } finally {
    await server.process.end();
  }
}
