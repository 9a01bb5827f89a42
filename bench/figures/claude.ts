import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { query, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';
import { claudeEnvironment, makeWorkspace, reply, startMessagesApi } from '@liminal/testkit';
import type { Figure } from '../parts/figure.ts';
import { type LiminalServer, startLiminalServer } from '../parts/liminal-server.ts';
import { comparePairs, timeToFirstToken } from '../parts/pairs.ts';

interface Place {
  env: Record<string, string>;
  projectDir: string;
  server: LiminalServer;
}

/** A prewarmed session, against the bare SDK with a process that waits for its first message. */
export async function* claudeWarm(): AsyncGenerator<Figure> {
  const name = 'Claude: first token after send, prewarmed, against the bare SDK';
  yield* compare(name, 1.2, bareWarm, ourWarm);
}

/** From nothing to the first token, against the bare SDK. */
export async function* claudeCold(): AsyncGenerator<Figure> {
  const name = 'Claude: create to first token, cold, against the bare SDK';
  yield* compare(name, 1.1, bareCold, ourCold);
}

async function* compare(
  name: string,
  atMost: number,
  bare: (place: Place) => Promise<number>,
  ours: (place: Place) => Promise<number>,
): AsyncGenerator<Figure> {
  const api = await startMessagesApi({ script: () => reply('Good morning.') });
  const workspace = await makeWorkspace();
  const env = claudeEnvironment(workspace.home, api.url);
  await mkdir(join(workspace.home, 'code'));
  const server = await startLiminalServer(join(workspace.home, 'data'), env);
  const place = { env, projectDir: join(workspace.home, 'code'), server };
  try {
    const figure = { name, atMost };
    yield await comparePairs(
      figure,
      () => bare(place),
      () => ours(place),
    );
  } finally {
    await server.process.end();
    await api.close();
    await workspace.remove();
  }
}

async function bareWarm({ env, projectDir }: Place): Promise<number> {
  const input = Promise.withResolvers<string>();
  const run = startBare(env, projectDir, input.promise);
  await run.initializationResult();
  const start = performance.now();
  input.resolve('Hello');
  return endAtFirstToken(run, start);
}

async function bareCold({ env, projectDir }: Place): Promise<number> {
  const start = performance.now();
  return endAtFirstToken(startBare(env, projectDir, Promise.resolve('Hello')), start);
}

function startBare(env: Record<string, string>, cwd: string, text: Promise<string>) {
  async function* prompt(): AsyncGenerator<SDKUserMessage> {
    const message = { role: 'user' as const, content: await text };
    yield { type: 'user', message, parent_tool_use_id: null, uuid: randomUUID() };
    await new Promise(() => {});
  }
  return query({
    prompt: prompt(),
    options: {
      cwd,
      env,
      includePartialMessages: true,
      // Both send what Claude Code sends in a terminal.
      systemPrompt: { type: 'preset', preset: 'claude_code' },
      sessionId: randomUUID(),
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
  throw new Error('The bare SDK said nothing.');
}

async function ourWarm({ server: { connection }, projectDir }: Place): Promise<number> {
  const sessionId = await connection.create('claude-code', projectDir);
  return timeToFirstToken(connection, sessionId, () => performance.now());
}

async function ourCold({ server: { connection }, projectDir }: Place): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('claude-code', projectDir);
  return timeToFirstToken(connection, sessionId, () => start);
}
