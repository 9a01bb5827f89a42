import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startResponsesApi } from '../responses-api/server.ts';
import type { ModelScript } from '../responses-api/script.ts';
import { gate, type Gate } from '../scripted-server/gate.ts';
import { Normaliser } from '../recording/normaliser.ts';
import { greeter } from '../mcp-server/index.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';
import { makeCodexHome, type CodexHomeOptions } from './codex-home.ts';
import { CodexProcess } from './codex-process.ts';
import type { CodexRecording, RecordedLine, RpcMessage } from './recording.ts';

/** A situation worth a fixture: what the model answers, and what the client does meanwhile. */
export interface RecordedCase {
  name: string;
  about: string;
  /** Files in the project folder. */
  files?: Record<string, string | Buffer>;
  codex?: CodexHomeOptions;
  /** What the client says it can. Default: nothing. */
  capabilities?: Record<string, unknown>;
  /** `gate` is the client's. */
  script: (workspace: Workspace, gate: Gate) => ModelScript;
  /** The `optionId` that answers a permission request, or nothing, for `cancelled`. Default: the first that allows. */
  permit?: (options: PermissionOption[], client: RecordingClient) => Promise<string | undefined>;
  run(client: RecordingClient): Promise<void>;
}

const patienceMs = 30_000;

const PermissionOption = z.looseObject({ optionId: z.string(), kind: z.string() });
type PermissionOption = z.infer<typeof PermissionOption>;

const PermissionParams = z.looseObject({ options: z.array(PermissionOption) });
const NewSession = z.looseObject({ sessionId: z.string() });
const Initialized = z.looseObject({
  agentInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

const updateOf = (message: RpcMessage): { sessionUpdate?: unknown } | undefined =>
  z.looseObject({ update: z.looseObject({}) }).safeParse(message.params).data?.update;

/** Matches a `session/update` of one kind. */
export const isUpdate =
  (kind: string) =>
  (message: RpcMessage): boolean =>
    updateOf(message)?.sessionUpdate === kind;

/** Runs the real `codex-acp` through a case and returns the normalised recording. */
export async function recordCodex(recordedCase: RecordedCase): Promise<CodexRecording> {
  const workspace = await makeWorkspace(recordedCase.files);
  const held = gate();
  const api = await startResponsesApi({ script: recordedCase.script(workspace, held) });
  const client = new RecordingClient(recordedCase, held, workspace);
  try {
    await makeCodexHome(join(workspace.home, '.codex'), api.url, recordedCase.codex);
    await client.start();
    await recordedCase.run(client);
    return {
      name: recordedCase.name,
      about: recordedCase.about,
      agent: client.agent,
      times: client.times,
      entries: normaliser(workspace, api.url).apply(client.entries),
    };
  } finally {
    await client.kill();
    await api.close();
    await workspace.remove();
  }
}

const normaliser = ({ home, projectDir }: Workspace, apiUrl: string): Normaliser =>
  new Normaliser({
    names: [
      [home, '/home/user'],
      [projectDir, '/project'],
      [new URL(apiUrl).host, '127.0.0.1:1'],
      [process.execPath, '/usr/bin/node'],
      [greeter().args[0] ?? '', '/usr/lib/greeter.ts'],
    ],
    patterns: [
      [/Chunk ID: [0-9a-f]{6}/g, 'Chunk ID: 000000'],
      [/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, '2026-01-01T00:00:00.000+00:00'],
      [/session ID \d+/g, 'session ID 0'],
      [/Wall time: [\d.]+ seconds/g, 'Wall time: 0 seconds'],
    ],
    measured: /^(secs|nanos|process_id|session_id|.*_at_ms)$/,
  });

/** An ACP client that writes down every line. */
export class RecordingClient {
  readonly gate: Gate;
  readonly workspace: Workspace;
  readonly entries: RecordedLine[] = [];
  readonly times: number[] = [];
  agent = 'unknown';
  readonly #case: RecordedCase;
  readonly #received: RpcMessage[] = [];
  #process: CodexProcess | undefined;
  #startedAt = 0;
  #requests = 0;
  #looked = 0;
  #wake = Promise.withResolvers<void>();

  constructor(recordedCase: RecordedCase, held: Gate, workspace: Workspace) {
    this.#case = recordedCase;
    this.gate = held;
    this.workspace = workspace;
  }

  /** Starts the program, anew where it has been killed, and introduces itself. */
  async start(): Promise<void> {
    this.#startedAt = performance.now();
    this.#note({ host: 'started' });
    this.#process = await CodexProcess.start(
      this.workspace.home,
      this.workspace.projectDir,
      (message) => this.#receive(message),
    );
    const answer = await this.request('initialize', {
      protocolVersion: 1,
      clientInfo: { name: 'recorder', version: '1.0.0' },
      clientCapabilities: this.#case.capabilities ?? {},
    });
    const { name, version } = Initialized.parse(answer.result).agentInfo;
    this.agent = `${name} ${version}`;
  }

  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    await this.#process.kill();
    this.#process = undefined;
    this.#note({ host: 'killed' });
  }

  /** Sends a request and resolves with its whole answer, error or not. */
  request(method: string, params: unknown): Promise<RpcMessage> {
    this.#requests += 1;
    const id = this.#requests;
    const answered = this.#first((message) => message.id === id && message.method === undefined);
    this.#send({ jsonrpc: '2.0', id, method, params });
    return answered;
  }

  notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params });
  }

  /** Opens a session and waits until its commands are known, which come of their own accord a little later. */
  async newSession(mcpServers: unknown[] = []): Promise<string> {
    const cwd = this.workspace.projectDir;
    const answer = await this.request('session/new', { cwd, mcpServers });
    await this.until(isUpdate('available_commands_update'));
    return NewSession.parse(answer.result).sessionId;
  }

  prompt(sessionId: string, text: string): Promise<RpcMessage> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Resolves with the next message that `matches` and has not been waited for before. */
  async until(matches: (message: RpcMessage) => boolean): Promise<RpcMessage> {
    for (;;) {
      const message = this.#received[this.#looked];
      if (message === undefined) await this.#more();
      else {
        this.#looked += 1;
        if (matches(message)) return message;
      }
    }
  }

  /** Resolves when the program has had every chance to say something, and has not. */
  async silence(): Promise<void> {
    const said = this.#received.length;
    await sleep(1500);
    if (this.#received.length > said) await this.silence();
  }

  async #first(matches: (message: RpcMessage) => boolean): Promise<RpcMessage> {
    const from = this.#received.length;
    for (;;) {
      const found = this.#received.slice(from).find((message) => matches(message));
      if (found !== undefined) return found;
      await this.#more();
    }
  }

  /** Resolves with the next message; a program that says nothing at all is not waited for. */
  async #more(): Promise<void> {
    const limit = AbortSignal.timeout(patienceMs);
    const silence = once(limit, 'abort').then(() => {
      throw new Error(`${this.agent} has said nothing for ${patienceMs} ms.`);
    });
    await Promise.race([this.#wake.promise, silence]);
  }

  #note(entry: RecordedLine): void {
    this.entries.push(entry);
    this.times.push(Math.round(performance.now() - this.#startedAt));
  }

  #send(message: RpcMessage): void {
    this.#note({ client: message });
    this.#process?.send(message);
  }

  #receive(message: RpcMessage): void {
    this.#note({ agent: message });
    this.#received.push(message);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
    if (message.method !== undefined && message.id !== undefined) void this.#answer(message);
  }

  async #answer({ id, method, params }: RpcMessage): Promise<void> {
    if (method !== 'session/request_permission') {
      const error = { code: -32_601, message: `The recorder does not do ${method}.` };
      return this.#send({ jsonrpc: '2.0', id, error });
    }
    const { options } = PermissionParams.parse(params);
    const optionId = await (this.#case.permit ?? allow)(options, this);
    this.#send({
      jsonrpc: '2.0',
      id,
      result: {
        outcome:
          optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId },
      },
    });
  }
}

const allow = (options: PermissionOption[]): Promise<string | undefined> =>
  Promise.resolve(options.find(({ kind }) => kind.startsWith('allow'))?.optionId);
