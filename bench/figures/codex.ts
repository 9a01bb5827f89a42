import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  message,
  pause,
  type ResponsesApi,
  startResponsesApi,
} from '@liminal/testkit';
import { BareCodex } from '../parts/bare-codex.ts';
import { type Figure, repeat } from '../parts/figure.ts';
import { type LiminalServer, startLiminalServer } from '../parts/liminal-server.ts';
import { compareLoading, leadTurns } from '../parts/loading.ts';
import {
  comparePairs,
  modelMs,
  OpenSession,
  roundCount,
  timeToFirstToken,
} from '../parts/pairs.ts';

interface Place {
  env: Record<string, string>;
  projectDir: string;
  dataDir: string;
  api: ResponsesApi;
}

type WithServer = Place & { server: LiminalServer };

/** The number of turns in a session that is loaded. */
const turns = 10;

/**
 * Compares the real `codex app-server` behind Liminal with the same program without Liminal. Without Liminal, the
 * program's output is only read line by line.
 */
export async function* codex(): AsyncGenerator<Figure> {
  const place = await makePlace();
  const served = { ...place, server: await startLiminalServer(place.dataDir, place.env) };
  try {
    yield await comparePairs(
      { name: 'Codex: a new session, against bare codex app-server', most: { ratio: 1.1 } },
      () => bareNew(place),
      () => ourNew(served),
    );
    yield await comparePairs(
      { name: 'Codex: create to first token, against bare codex app-server', most: { ratio: 1.1 } },
      () => bareFirstToken(place),
      () => ourFirstToken(served),
    );
    yield* warm(served);
  } finally {
    await served.server.process.end();
    await place.remove();
  }
}

/**
 * Measures how long it takes to reopen a session with some turns: in a running server, and in a server that has just
 * been started.
 */
export async function* codexLoad(): AsyncGenerator<Figure> {
  const place = await makePlace();
  try {
    const threadId = await storeThread(place);
    yield* compareLoading(place, {
      agent: 'Codex',
      against: 'bare thread/resume',
      lead: (server) => storeSession({ ...place, server }),
      bareHistory: () => bareHistory(place, threadId),
      bareFirstToken: () => bareLoad(place, threadId),
    });
  } finally {
    await place.remove();
  }
}

async function makePlace(): Promise<Place & { remove: () => Promise<void> }> {
  const api = await startResponsesApi({ script: () => answer(message('Good morning.')) });
  const workspace = await makeWorkspace();
  const { home } = workspace;
  const env = codexEnvironment(home);
  const projectDir = join(home, 'code');
  await mkdir(projectDir);
  await mkdir(env['TMPDIR'] ?? home, { recursive: true });
  await makeCodexHome(env['CODEX_HOME'] ?? home, api.url);
  const remove = async () => {
    await api.close();
    await workspace.remove();
  };
  return { env, projectDir, dataDir: join(home, 'data'), api, remove };
}

async function ourNew({ server: { connection }, projectDir }: WithServer): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  const elapsed = performance.now() - start;
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

async function ourFirstToken({ server: { connection }, projectDir }: WithServer): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  return timeToFirstToken(connection, sessionId, () => start);
}

/**
 * Measures the time from sending a message to the first token, in a session that is open in a client and already has a
 * turn.
 */
async function* warm(place: WithServer): AsyncGenerator<Figure> {
  const { connection } = place.server;
  const program = new BareCodex(place);
  const threadId = await program.open();
  const sessionId = await connection.create('codex', place.projectDir);
  const session = await OpenSession.of(connection, sessionId);
  const compare = (name: string, most: { ratio: number } | { addedMs: number }, rounds: number) =>
    comparePairs(
      { name, most, rounds },
      () => program.firstToken(threadId),
      () => session.timeOfTurn(() => performance.now()),
    );
  try {
    // This figure is measured quickly, but it is so close to its bound that fewer rounds would not be conclusive.
    const warmSend = 'Codex: send to first token, warm, added to bare codex app-server';
    yield await compare(warmSend, { addedMs: 3 }, 100);
    const thinking = message([pause(modelMs), 'Good morning.']);
    place.api.play(() => answer(thinking));
    const name = `Codex: send to first token, warm, a model that thinks for ${modelMs} ms`;
    yield await compare(name, { ratio: 1.05 }, roundCount);
  } finally {
    session.close();
    await connection.post(`${sessionId}/kill`, {});
    await program.end();
  }
}

async function bareNew(place: Place): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  await program.open();
  const elapsed = performance.now() - start;
  await program.end();
  return elapsed;
}

async function bareFirstToken(place: Place): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  const threadId = await program.open();
  await program.firstToken(threadId);
  const elapsed = program.firstAt - start;
  await program.end();
  return elapsed;
}

/** Stores a thread with some turns; resolves with the thread's id when no process has the thread open. */
async function storeThread(place: Place): Promise<string> {
  const program = new BareCodex(place);
  const threadId = await program.open();
  await repeat(turns, () => program.firstToken(threadId));
  await program.end();
  return threadId;
}

async function storeSession({ server: { connection }, projectDir }: WithServer): Promise<string> {
  const sessionId = await connection.create('codex', projectDir);
  await leadTurns(connection, sessionId, turns);
  return sessionId;
}

async function bareHistory(place: Place, threadId: string): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  await program.resume(threadId, { excludeTurns: false });
  const elapsed = performance.now() - start;
  await program.end();
  return elapsed;
}

async function bareLoad(place: Place, threadId: string): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  await program.resume(threadId, { excludeTurns: true });
  await program.firstToken(threadId);
  const elapsed = program.firstAt - start;
  await program.end();
  return elapsed;
}
