import { randomUUID } from 'node:crypto';
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

/** A case to record: the model's answers, and the client's actions. */
export interface RecordedCase {
  name: string;
  about: string;
  /** Files in the project folder. */
  files?: Record<string, string | Buffer>;
  codex?: CodexHomeOptions;
  /** The model's answers. `gate` is the gate that the client opens. */
  script: (workspace: Workspace, gate: Gate) => ModelScript;
  /**
   * Returns the result for a request of Codex; undefined leaves the request unanswered. By default, everything is
   * allowed.
   */
  permit?: (request: RpcMessage, client: RecordingClient) => Promise<unknown>;
  run(client: RecordingClient): Promise<void>;
}

const patienceMs = 30_000;

/**
 * Notifications that Codex sends at random times and that no client needs. They are left out, because their position
 * among the lines varies.
 */
const leftOut = new Set([
  // `configWarning` depends on this machine, for example on whether it has a sandbox program.
  'configWarning',
  'mcpServer/startupStatus/updated',
  'remoteControl/status/changed',
  'skills/changed',
  'thread/goal/cleared',
  'thread/goal/updated',
  'thread/readState/changed',
  'thread/status/changed',
]);

const Initialized = z.looseObject({ userAgent: z.string() });
const Opened = z.looseObject({ thread: z.looseObject({ id: z.string() }) });
const Announced = z.looseObject({ item: z.looseObject({ type: z.string() }) });
const Begun = z.looseObject({ turn: z.looseObject({ id: z.string() }) });

/** Matches the message that announces an item. */
export const startsItem =
  (type: string) =>
  ({ method, params }: RpcMessage): boolean =>
    method === 'item/started' && Announced.parse(params).item.type === type;

/** Matches a notification, or a request of Codex, by its method. */
export const hasMethod =
  (method: string) =>
  (message: RpcMessage): boolean =>
    message.method === method;

/** Plays a case with the real `codex app-server`, and returns the normalised recording. */
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
      [
        /sessions\/\d{4}\/\d\d\/\d\d\/rollout-[\dT-]{19}/g,
        'sessions/2026/01/01/rollout-2026-01-01T00-00-00',
      ],
      [/Chunk ID: [0-9a-f]{6}/g, 'Chunk ID: 000000'],
      [/session ID \d+/g, 'session ID 0'],
      [/Wall time: [\d.]+ seconds/g, 'Wall time: 0 seconds'],
    ],
    measured: /^(processId|durationMs|(started|completed|created|updated|recency)At|.*AtMs)$/,
  });

/** A client of the app-server. The client records every line. */
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
  /** The requests without an answer, and the messages that arrived while they were open. */
  readonly #open = new Set<unknown>();
  #meanwhile: RpcMessage[] = [];
  #looked = 0;
  #wake = Promise.withResolvers<void>();

  constructor(recordedCase: RecordedCase, held: Gate, workspace: Workspace) {
    this.#case = recordedCase;
    this.gate = held;
    this.workspace = workspace;
  }

  /** Starts the program (again, if the program was killed), and initialises the connection. */
  async start(): Promise<void> {
    this.#startedAt = performance.now();
    this.#note({ host: 'started' });
    this.#process = await CodexProcess.start(
      this.workspace.home,
      this.workspace.projectDir,
      (message) => this.#receive(message),
    );
    const answer = await this.request('initialize', {
      clientInfo: { name: 'recorder', title: 'Recorder', version: '1.0.0' },
      capabilities: { experimentalApi: true },
    });
    this.agent = agentIn(Initialized.parse(answer.result).userAgent);
    this.notify('initialized');
  }

  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    await this.#process.kill();
    this.#process = undefined;
    this.#note({ host: 'killed' });
  }

  /** Sends a request. Resolves with its whole answer, even if the answer is an error. */
  request(method: string, params: unknown): Promise<RpcMessage> {
    this.#requests += 1;
    const id = this.#requests;
    this.#open.add(id);
    this.#send({ id, method, params });
    return this.#first((message) => message.id === id && message.method === undefined);
  }

  notify(method: string): void {
    this.#send({ method });
  }

  /** Begins a thread in the project's folder. Returns the thread's id. */
  async newSession(params: Record<string, unknown> = {}): Promise<string> {
    const cwd = this.workspace.projectDir;
    return this.open('thread/start', { cwd, ...params });
  }

  /** Opens a thread with a method such as `thread/fork`, and waits until Codex has also announced the thread. */
  async open(method: string, params: Record<string, unknown>): Promise<string> {
    const answer = await this.request(method, params);
    const { id } = Opened.parse(answer.result).thread;
    await this.#first(
      (message) =>
        message.method === 'thread/started' && Opened.parse(message.params).thread.id === id,
    );
    return id;
  }

  /** Begins a turn. Returns the turn's id. */
  async begin(
    threadId: string,
    text: string,
    params: Record<string, unknown> = {},
  ): Promise<string> {
    const answer = await this.request('turn/start', {
      threadId,
      clientUserMessageId: randomUUID(),
      input: [{ type: 'text', text, text_elements: [] }],
      ...params,
    });
    return Begun.parse(answer.result).turn.id;
  }

  /** Resolves with the notification `turn/completed` of a turn. */
  ended(turnId: string): Promise<RpcMessage> {
    return this.#first(
      (message) =>
        message.method === 'turn/completed' && Begun.parse(message.params).turn.id === turnId,
    );
  }

  /** Plays a whole turn. Resolves with its notification `turn/completed`. */
  async prompt(
    threadId: string,
    text: string,
    params: Record<string, unknown> = {},
  ): Promise<RpcMessage> {
    return this.ended(await this.begin(threadId, text, params));
  }

  /** Requests all data that Codex has stored about a thread. */
  async history(threadId: string): Promise<void> {
    await this.request('thread/turns/list', {
      threadId,
      sortDirection: 'asc',
      itemsView: 'full',
    });
  }

  /** Ends the process and opens the thread again in a new process. */
  async reopen(threadId: string): Promise<void> {
    await this.kill();
    await this.start();
    const cwd = this.workspace.projectDir;
    await this.request('thread/resume', { threadId, cwd, excludeTurns: true });
  }

  /** Stops a turn and waits until it has ended. */
  async interrupt(threadId: string, turnId: string): Promise<void> {
    await this.request('turn/interrupt', { threadId, turnId });
    await this.ended(turnId);
  }

  /** Resolves with the next message that `matches` and that no earlier call has returned. */
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

  /** Resolves when the program has sent no message for some time. */
  async silence(): Promise<void> {
    const said = this.#received.length;
    await sleep(1500);
    if (this.#received.length > said) await this.silence();
  }

  /** Resolves with the first message that matches, past or future. Must be used only for messages with a unique id. */
  async #first(matches: (message: RpcMessage) => boolean): Promise<RpcMessage> {
    for (;;) {
      const found = this.#received.find((message) => matches(message));
      if (found !== undefined) return found;
      await this.#more();
    }
  }

  /** Waits for the next message. Rejects if the program sends no message for too long. */
  async #more(): Promise<void> {
    const limit = AbortSignal.timeout(patienceMs);
    const silence = once(limit, 'abort').then(() => {
      throw new Error(`${this.agent} has sent nothing for ${patienceMs} ms.`);
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

  /**
   * Records a message. If an answer and notifications arrive at the same time, their order varies, so the answer is
   * recorded first.
   */
  #receive(message: RpcMessage): void {
    if (message.method === undefined) {
      this.#open.delete(message.id);
      this.#take(message);
    } else if (!leftOut.has(message.method)) this.#meanwhile.push(message);
    if (this.#open.size > 0) return;
    const meanwhile = this.#meanwhile;
    this.#meanwhile = [];
    for (const later of meanwhile) this.#take(later);
  }

  #take(message: RpcMessage): void {
    this.#note({ agent: message });
    this.#received.push(message);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
    if (message.method !== undefined && message.id !== undefined) void this.#answer(message);
  }

  async #answer(request: RpcMessage): Promise<void> {
    const result = await (this.#case.permit ?? agree)(request, this);
    if (result !== undefined) this.#send({ id: request.id, result });
  }
}

const Question = z.looseObject({
  id: z.string(),
  options: z.array(z.looseObject({ label: z.string() })).nullish(),
});

/** Allows a request, in the format that this request needs. */
export async function agree({ method, params }: RpcMessage): Promise<unknown> {
  const asked = z.looseObject({}).parse(params);
  switch (method) {
    case 'item/permissions/requestApproval':
      return { permissions: asked['permissions'], scope: 'turn' };
    case 'item/tool/requestUserInput': {
      const questions = z.array(Question).parse(asked['questions']);
      const answers = questions.map(({ id, options }) => [
        id,
        { answers: [options?.[0]?.label ?? 'Yes.'] },
      ]);
      return { answers: Object.fromEntries(answers) };
    }
    case 'mcpServer/elicitation/request':
      return { action: 'accept', content: {}, _meta: null };
    default:
      return { decision: 'accept' };
  }
}

/** Returns the name and version in Codex' user agent, without the parts that describe the machine. */
const agentIn = (userAgent: string): string => {
  const version = /\/(\d+\.\d+\.\d+)/.exec(userAgent)?.[1] ?? userAgent;
  return `codex-app-server ${version}`;
};
