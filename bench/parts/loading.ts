/** Compares how long it takes to reopen an existing session, in Liminal and in the bare program. */
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
  /** The name of the program that is measured without Liminal. */
  against: string;
  /** Plays some turns in a session; returns the session's id. */
  lead: (server: LiminalServer) => Promise<string>;
  /** Measures the bare program: the ms to load a session's history, and the ms to the first token of a message. */
  bareHistory: () => Promise<number>;
  bareFirstToken: () => Promise<number>;
}

/**
 * The most that a server's first load may take, as a multiple of the bare program's time. Only the server compiles its
 * code at that time, and looks for turns made outside Liminal, for which it starts Codex once more.
 */
const justStarted = 3;

/** Plays some turns in a session, and ends its agent. */
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

/**
 * Loads a session; resolves with the ms until a client has received the session's history. Then ends the session's
 * agent, if that has started.
 */
async function timeToHistory(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  const socket = await connection.follow(sessionId, () => {});
  const elapsed = performance.now() - start;
  socket.close();
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

/**
 * Loads a session and sends a message; resolves with the ms until a subscribed client receives the answer's first
 * character. Then ends the session's agent.
 */
async function loadToFirstToken(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  return timeToFirstToken(connection, sessionId, () => start);
}

/**
 * Measures how long it takes to reopen a session with some turns: in a running server, and in a server that has just
 * been started.
 */
export async function* compareLoading(
  place: Place,
  { agent, against, lead, bareHistory, bareFirstToken }: Loading,
): AsyncGenerator<Figure> {
  const server = await startLiminalServer(place.dataDir, place.env);
  let sessionId = '';
  try {
    sessionId = await lead(server);
    yield await comparePairs(
      { name: `${agent}: load to its history, against ${against}`, most: { ratio: 1.1 } },
      bareHistory,
      () => timeToHistory(server.connection, sessionId),
    );
    yield await comparePairs(
      { name: `${agent}: load and send to first token, against ${against}`, most: { ratio: 1.1 } },
      bareFirstToken,
      () => loadToFirstToken(server.connection, sessionId),
    );
  } finally {
    await server.process.end();
  }
  yield await comparePairs(
    {
      name: `${agent}: load and send to first token, in a server just started, against ${against}`,
      most: { ratio: justStarted },
    },
    bareFirstToken,
    () => afterRestart(place, (connection) => loadToFirstToken(connection, sessionId)),
  );
}

/** Runs a function on a server that has just been started. */
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
