/** Records the lines of the real `codex-acp` directly, so that no code in between can lose or repair anything. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { codexAcpCommand, greeter, type ModelScript, type Workspace } from '@liminal/testkit';
import { z } from 'zod';
import { processesOf } from '../claude-code/processes.ts';
import { adapterStage, type AdapterStage } from './running-codex-adapter.ts';

const SessionUpdateLine = z.object({
  method: z.literal('session/update'),
  params: z.looseObject({}),
});

/** The session updates of each story. */
export const AdapterRecording = z.record(z.string(), z.array(SessionUpdateLine));
export type AdapterRecording = z.infer<typeof AdapterRecording>;

const fixture = new URL('./fixtures/codex-adapter.json', import.meta.url);

export const loadAdapterRecording = (): AdapterRecording =>
  AdapterRecording.parse(JSON.parse(readFileSync(fixture, 'utf8')));

export const saveAdapterRecording = (recording: AdapterRecording): Promise<void> =>
  writeFile(fixture, `${JSON.stringify(recording, null, 1)}\n`);

/** A session from its beginning: its prompts, and its model's answers. */
export interface AdapterStory {
  files?: Record<string, string>;
  mode?: 'agent-full-access' | 'workspace-write';
  script: ModelScript;
  prompts: string[];
  /** If a line matches this pattern, the turn is stopped. */
  stopsAt?: RegExp;
  /** Whether the session is loaded at the end. */
  isLoaded?: boolean;
}

const Message = z.looseObject({
  id: z.unknown().optional(),
  method: z.string().optional(),
  params: z.looseObject({ sessionId: z.string().optional() }).optional(),
  result: z.looseObject({ sessionId: z.string().optional() }).nullish(),
});

/** Plays a story; returns its session updates without values that vary between runs. */
export async function recordStory(story: AdapterStory): Promise<AdapterRecording[string]> {
  const stage = await adapterStage(() => story.script, story);
  const { projectDir } = stage.workspace;
  let adapter = await startAdapter(stage, story.stopsAt);
  const { said } = adapter;
  const { type: _, env, ...server } = greeter();
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  const mcpServers = [{ name: 'own', ...server, env: variables }];
  const begun = await adapter.request('session/new', { cwd: projectDir, mcpServers });
  const sessionId = begun.result?.sessionId;
  for (const text of story.prompts) {
    await adapter.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }
  await adapter.end();
  if (story.isLoaded === true) {
    adapter = await startAdapter(stage);
    await adapter.request('session/load', { sessionId, cwd: projectDir, mcpServers: [] });
    said.push(...adapter.said);
    await adapter.end();
  }
  await stage.close();
  return said.map((line) => SessionUpdateLine.parse(JSON.parse(plain(line, stage.workspace))));
}

/** Starts and initialises an adapter whose permission requests are all allowed, once each. */
async function startAdapter({ workspace, env }: AdapterStage, stopsAt?: RegExp) {
  const { command, args } = codexAcpCommand();
  const child = spawn(command, args, {
    cwd: workspace.projectDir,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const said: string[] = [];
  const waiting: ((answer: z.infer<typeof Message>) => void)[] = [];
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method: string, params: object) => {
    const { promise, resolve } = Promise.withResolvers<z.infer<typeof Message>>();
    send({ id: waiting.push(resolve) - 1, method, params });
    return promise;
  };
  const outcome = { outcome: 'selected', optionId: 'allow_once' };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, params, ...rest } = Message.parse(JSON.parse(line));
    if (method === undefined) waiting[Number(id)]?.(rest);
    else if (id !== undefined) send({ id, result: { outcome } });
    else if (method === 'session/update') said.push(line);
    if (stopsAt?.test(line)) {
      send({ method: 'session/cancel', params: { sessionId: params?.sessionId } });
    }
  });
  const session = { notices: {}, compaction: {} };
  const clientCapabilities = { session, _meta: { terminal_output: true } };
  await request('initialize', { protocolVersion: 1, clientCapabilities });
  const end = async () => {
    const exited = once(child, 'exit');
    // On its own the adapter takes five seconds to end.
    for (const pid of processesOf(workspace.home)) endProcess(pid);
    await exited;
  };
  return { said, request, end };
}

/** Ends a process, if it has not already ended with another process. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Replaces the folders, ids and times in a line. */
function plain(line: string, { projectDir, home }: Pick<Workspace, 'projectDir' | 'home'>): string {
  return line
    .replaceAll(projectDir, '/project')
    .replaceAll(home, '/home/user')
    .replaceAll(process.execPath, '/usr/bin/node')
    .replaceAll(greeter().args[0] ?? '', '/usr/lib/greeter.ts')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '00000000-0000-4000-8000-000000000001')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')
    .replaceAll(/("[^"]*(?:Ms|At)":)\d+/g, '$10');
}
