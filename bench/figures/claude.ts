import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Options, query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import {
  claudeEnvironment,
  makeWorkspace,
  pause,
  type Reply,
  reply,
  startMessagesApi,
  text,
} from '@liminal/testkit';
import { type Figure, repeat } from '../parts/figure.ts';
import { type LiminalServer, startLiminalServer } from '../parts/liminal-server.ts';
import { compareLoading, leadTurns } from '../parts/loading.ts';
import { comparePairs, modelMs, timeToFirstToken } from '../parts/pairs.ts';

interface Place {
  env: Record<string, string>;
  projectDir: string;
  dataDir: string;
}

type WithServer = Place & { server: LiminalServer };

/** The number of turns in a session that is loaded. */
const turns = 10;

const answer = 'Good morning.';

/** Compares a prewarmed session with the bare SDK, whose process already waits for the first message. */
export async function* claudeWarm(): AsyncGenerator<Figure> {
  const name = 'Claude: first token after send, prewarmed';
  yield await withServer(reply(answer), (place) =>
    comparePairs(
      { name: `${name}, against the bare SDK`, most: { ratio: 1.2 } },
      () => bareWarm(place),
      () => ourWarm(place),
    ),
  );
  yield await withServer(reply(text([pause(modelMs), answer])), (place) =>
    comparePairs(
      { name: `${name}, a model that thinks for ${modelMs} ms`, most: { ratio: 1.1 } },
      () => bareWarm(place),
      () => ourWarm(place),
    ),
  );
}

/** Measures the time from creating a session to the first token, compared with the bare SDK. */
export async function* claudeCold(): AsyncGenerator<Figure> {
  yield await withServer(reply(answer), (place) =>
    comparePairs(
      { name: 'Claude: create to first token, cold, against the bare SDK', most: { ratio: 1.1 } },
      () => bareCold(place),
      () => ourCold(place),
    ),
  );
}

/**
 * Measures how long it takes to reopen a session with some turns: in a running server, and in a server that has just
 * been started.
 */
export async function* claudeLoad(): AsyncGenerator<Figure> {
  const place = await makePlace(reply(answer));
  try {
    const bareId = await storeBare(place);
    yield* compareLoading(place, {
      agent: 'Claude',
      against: 'the bare SDK’s resume',
      lead: (server) => storeSession({ ...place, server }),
      bareHistory: () => bareResume(place, bareId),
      bareFirstToken: () => bareLoad(place, bareId),
    });
  } finally {
    await place.remove();
  }
}

async function withServer(
  said: Reply,
  work: (place: WithServer) => Promise<Figure>,
): Promise<Figure> {
  const place = await makePlace(said);
  const server = await startLiminalServer(place.dataDir, place.env);
  try {
    return await work({ ...place, server });
  } finally {
    await server.process.end();
    await place.remove();
  }
}

async function makePlace(said: Reply): Promise<Place & { remove: () => Promise<void> }> {
  const api = await startMessagesApi({ script: () => said });
  const workspace = await makeWorkspace();
  const env = claudeEnvironment(workspace.home, api.url);
  const projectDir = join(workspace.home, 'code');
  await mkdir(projectDir);
  const remove = async () => {
    await api.close();
    await workspace.remove();
  };
  return { env, projectDir, dataDir: join(workspace.home, 'data'), remove };
}

async function bareWarm({ env, projectDir }: Place): Promise<number> {
  const input = Promise.withResolvers<string>();
  const run = startBare({ env, projectDir }, input.promise);
  await run.initializationResult();
  const start = performance.now();
  input.resolve('Hello');
  return endAtFirstToken(run, start);
}

async function bareCold({ env, projectDir }: Place): Promise<number> {
  const start = performance.now();
  return endAtFirstToken(startBare({ env, projectDir }, Promise.resolve('Hello')), start);
}

/**
 * Starts a new session of the bare SDK, or resumes an earlier session. The session's process ends when `isOver`
 * resolves.
 */
function startBare(
  { env, projectDir: cwd }: Pick<Place, 'env' | 'projectDir'>,
  text: Promise<string>,
  session: Pick<Options, 'sessionId' | 'resume'> = { sessionId: randomUUID() },
  isOver: Promise<unknown> = new Promise(() => {}),
) {
  async function* prompt(): AsyncGenerator<SDKUserMessage> {
    const message = { role: 'user' as const, content: await text };
    yield { type: 'user', message, parent_tool_use_id: null, uuid: randomUUID() };
    await isOver;
  }
  return query({
    prompt: prompt(),
    options: {
      cwd,
      env,
      includePartialMessages: true,
      // Liminal and the bare SDK both send the system prompt that Claude Code uses in a terminal.
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      ...session,
      canUseTool: async () => ({ behavior: 'deny', message: '' }),
    },
  });
}

async function endAtFirstToken(run: ReturnType<typeof startBare>, start: number): Promise<number> {
  for await (const message of run) {
    if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue;
    const elapsed = performance.now() - start;
    run.close();
    return elapsed;
  }
  throw new Error('The bare SDK ended without sending any text.');
}

async function ourWarm({ server: { connection }, projectDir }: WithServer): Promise<number> {
  const sessionId = await connection.create('claude-code', projectDir);
  return timeToFirstToken(connection, sessionId, () => performance.now());
}

async function ourCold({ server: { connection }, projectDir }: WithServer): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('claude-code', projectDir);
  return timeToFirstToken(connection, sessionId, () => start);
}

/** Plays some turns with the bare SDK, which stores the session; resolves with the session's id. */
async function storeBare(place: Place): Promise<string> {
  const sessionId = randomUUID();
  await bareTurn(place, { sessionId });
  await repeat(turns - 1, () => bareTurn(place, { resume: sessionId }));
  return sessionId;
}

async function storeSession({ server: { connection }, projectDir }: WithServer): Promise<string> {
  const sessionId = await connection.create('claude-code', projectDir);
  await leadTurns(connection, sessionId, turns);
  return sessionId;
}

async function bareLoad(place: Place, sessionId: string): Promise<number> {
  return bareTurn(place, { resume: sessionId });
}

/** Resolves with the time until the session is ready for a message, in ms. */
async function bareResume(place: Place, sessionId: string): Promise<number> {
  const start = performance.now();
  const run = startBare(place, new Promise(() => {}), { resume: sessionId });
  await run.initializationResult();
  const elapsed = performance.now() - start;
  run.close();
  return elapsed;
}

/**
 * Plays a whole turn, so that the bare SDK stores the turn. Resolves when the process has ended, with the time to the
 * first token, in ms.
 */
async function bareTurn(
  place: Place,
  session: Pick<Options, 'sessionId' | 'resume'>,
): Promise<number> {
  const start = performance.now();
  const isOver = Promise.withResolvers<void>();
  let first: number | undefined;
  for await (const said of startBare(place, Promise.resolve('Hello'), session, isOver.promise)) {
    if (said.type === 'stream_event' && said.event.type === 'content_block_delta')
      first ??= performance.now();
    if (said.type === 'result') isOver.resolve();
  }
  if (first === undefined) throw new Error('The bare SDK ended without sending any text.');
  return first - start;
}
