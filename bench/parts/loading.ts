/** A session that was led here before, opened again. */
import type { Connection } from './connection.ts';
import { repeat } from './figure.ts';
import { startLiminalServer } from './liminal-server.ts';
import { OpenSession, timeToFirstToken } from './pairs.ts';

/**
 * What a server's first work may cost, against the bare program, ×: its code is compiled, and what was done outside of
 * it is looked for, for which Codex is started once more. The bare program does neither.
 */
export const JUST_STARTED = 3;

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
export async function timeToHistory(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  const socket = await connection.follow(sessionId, () => {});
  const elapsed = performance.now() - start;
  socket.close();
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

/** ms from loading a session to the answer's first character at a client that follows it; ends its agent. */
export async function loadToFirstToken(connection: Connection, sessionId: string): Promise<number> {
  const start = performance.now();
  await connection.post(`${sessionId}/load`, {});
  return timeToFirstToken(connection, sessionId, () => start);
}

/** Does something with a server that has just been started. */
export async function afterRestart<T>(
  { dataDir, env }: { dataDir: string; env: NodeJS.ProcessEnv },
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const server = await startLiminalServer(dataDir, env);
  try {
    return await work(server.connection);
  } finally {
    await server.process.end();
  }
}
