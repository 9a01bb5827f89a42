import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  answer,
  codexBinary,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  message,
  startResponsesApi,
} from '@liminal/testkit';
import type { Figure } from '../parts/figure.ts';
import { type LiminalServer, startLiminalServer } from '../parts/liminal-server.ts';
import { comparePairs, timeToFirstToken } from '../parts/pairs.ts';

interface Place {
  env: Record<string, string>;
  projectDir: string;
  server: LiminalServer;
}

/** The real `codex-acp` behind Liminal, against the same program spoken to line by line. */
export async function codex(): Promise<Figure[]> {
  const api = await startResponsesApi({ script: () => answer(message('Good morning.')) });
  const workspace = await makeWorkspace();
  const { home } = workspace;
  const env = codexEnvironment(home);
  const projectDir = join(home, 'code');
  await mkdir(projectDir);
  await mkdir(env['TMPDIR'] ?? home, { recursive: true });
  await makeCodexHome(env['CODEX_HOME'] ?? home, api.url);
  const server = await startLiminalServer(join(home, 'data'), env);
  const place = { env, projectDir, server };
  try {
    return [
      await comparePairs(
        { name: 'Codex: a new session, against bare codex-acp', atMost: 1.1 },
        () => bare(place, 1),
        () => ourNew(place),
      ),
      await comparePairs(
        { name: 'Codex: create to first token, against bare codex-acp', atMost: 1.1 },
        () => bare(place, 2),
        () => ourFirstToken(place),
      ),
    ];
  } finally {
    await server.process.end();
    await api.close();
    await workspace.remove();
  }
}

async function ourNew({ server: { connection }, projectDir }: Place): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  const elapsed = performance.now() - start;
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

async function ourFirstToken({ server: { connection }, projectDir }: Place): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  return timeToFirstToken(connection, sessionId, () => start);
}

interface Said {
  id?: number;
  result?: { sessionId?: string };
  params?: { update?: { sessionUpdate?: string } };
}

/** ms from the program's start to the answer of `session/new` (1), or to the first chunk of a turn (2). */
async function bare({ env, projectDir: cwd }: Place, until: 1 | 2): Promise<number> {
  const start = performance.now();
  const child = spawn(codexBinary(), { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  const ask = (id: number, method: string, params: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  ask(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  for await (const line of createInterface(child.stdout)) {
    const { id, result, params } = JSON.parse(line) as Said;
    const isChunk = params?.update?.sessionUpdate === 'agent_message_chunk';
    if (id === 0) ask(1, 'session/new', { cwd, mcpServers: [] });
    if (until === 1 ? id === 1 : isChunk) break;
    const prompt = [{ type: 'text', text: 'Hello' }];
    if (id === 1) ask(2, 'session/prompt', { sessionId: result?.sessionId, prompt });
  }
  const elapsed = performance.now() - start;
  child.kill('SIGKILL');
  await exited;
  return elapsed;
}
