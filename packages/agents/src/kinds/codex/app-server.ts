import { setTimeout as delay } from 'node:timers/promises';
import { asError, thrownMessage } from '@liminal/protocol';
import manifest from '../../../package.json' with { type: 'json' };
import { AgentProcess, type ProcessCommand } from '../../base/agent-process.ts';
import { Lifetime } from '../../base/lifetime.ts';
import { isRecord, parseLine } from '../../base/parse-line.ts';
import { largeLine, parseLargeLine } from '../../base/large-lines.ts';

type Params = Record<string, unknown>;

/** A session's thread, with the threads that Codex begins for its tasks. */
export interface HostedThread {
  /** Returns whether a turn belongs to this thread, by Codex' own id. */
  owns(nativeTurnId: string): boolean;
  /** Handles a notification about this thread, about a task's thread, or about the whole server. */
  onNotification(method: string, params: Params): void;
  /** Handles a request from Codex. Resolves with the answer. If the promise rejects, Codex receives an error. */
  onRequest(method: string, params: Params, id: string | number): Promise<unknown>;
  onGone(reason: Error): void;
}

/** A thread's id, and the id of the turn that runs in the thread. */
export interface OpenThread {
  threadId: string;
  turnId: string | undefined;
}

/** An error response from Codex. */
export class CodexError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The process in which the server runs. */
export type ServerProcess = Pick<AgentProcess, 'listen' | 'write' | 'note' | 'explain' | 'end'>;

interface PendingRequest {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/** How long Codex may take to close a thread, in ms. */
const leaveLimitMs = 2_000;

/** A running `codex app-server`, and the threads that are open in the server. */
export class AppServer {
  readonly #process: ServerProcess;
  readonly #pending = new Map<unknown, PendingRequest>();
  readonly #life = new Lifetime();
  /** The sessions' threads by id. The id of a task's thread maps to the thread of the session that started the task. */
  readonly #threads = new Map<unknown, HostedThread>();
  /** Callbacks for closed threads, by thread id. */
  readonly #closing = new Map<string, () => void>();
  #asked = 0;
  #isAlive = true;
  #version: string | undefined;
  #home: string | undefined;
  #ended: Promise<void> | undefined;

  constructor(process: ServerProcess) {
    this.#process = process;
    void this.#process.listen({
      onLine: (line) => this.#read(line),
      onGone: (reason) => this.#onGone(reason),
    });
  }

  /**
   * Starts a server and waits for its greeting. If no greeting arrives within `limitMs`, ends the process and rejects
   * with the reason.
   */
  static async start(
    command: ProcessCommand,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<AppServer> {
    signal.throwIfAborted();
    const server = new AppServer(new AgentProcess(command));
    try {
      const clientInfo = { name: 'liminal', title: 'Liminal', version: manifest.version };
      const capabilities = { experimentalApi: true };
      const greeting = server.request('initialize', { clientInfo, capabilities });
      const answer = await server.within(limitMs, greeting, signal);
      server.#version = versionIn(answer);
      server.#home = homeIn(answer);
      server.notify('initialized');
      return server;
    } catch (error) {
      await server.end();
      throw new Error(server.explain(error), { cause: error });
    }
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Codex' version; undefined if Codex does not report a version. */
  get version(): string | undefined {
    return this.#version;
  }

  /** The path of Codex' own folder (`CODEX_HOME`); undefined if Codex does not report the path. */
  get home(): string | undefined {
    return this.#home;
  }

  /**
   * Sends a request. `take` is called with the answer before any later message is handled. Rejects with CodexError, or
   * with the reason for the end of the process.
   */
  request(method: string, params: unknown): Promise<unknown>;
  request<T>(method: string, params: unknown, take: (answer: unknown) => T): Promise<T>;
  request(method: string, params: unknown, take = (answer: unknown) => answer): Promise<unknown> {
    const id = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { resolve: (answer) => resolve(take(answer)), reject });
    this.#send({ id, method, params });
    return this.#life.within(promise);
  }

  /** Sends a request; resolves with undefined if the request fails, for example because its work is already done. */
  tryRequest(method: string, params: object): Promise<unknown> {
    return this.request(method, params).catch(() => undefined);
  }

  /** Routes notifications and requests about a thread to `thread`. */
  admit(threadId: string, thread: HostedThread): void {
    this.#threads.set(threadId, thread);
  }

  /** Closes a session's threads with their running turns and commands. */
  async leave(threads: readonly OpenThread[]): Promise<void> {
    for (const { threadId } of threads) this.#threads.delete(threadId);
    if (!this.#isAlive) return;
    const leaving = Promise.all(threads.map((thread) => this.#close(thread)));
    await Promise.race([leaving, delay(leaveLimitMs)]);
  }

  async #close({ threadId, turnId }: OpenThread): Promise<void> {
    const request = (method: string, params = {}): Promise<unknown> =>
      this.tryRequest(method, { threadId, ...params });
    // Stop the turn before its commands, so that the model does not react to the end of the commands.
    if (turnId !== undefined) await request('turn/interrupt', { turnId });
    await request('thread/backgroundTerminals/clean');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#closing.set(threadId, resolve);
    const left = await request('thread/unsubscribe');
    // Wait until the thread is closed. A thread that is opened again before that lacks the entries that Codex has not
    // written yet.
    if (isRecord(left) && left['status'] === 'unsubscribed') await closed;
    this.#closing.delete(threadId);
  }

  notify(method: string): void {
    this.#send({ method });
  }

  /** Returns the reason for the process's end, with the process's error output. */
  explain(reason: unknown): string {
    return this.#process.explain(reason);
  }

  /** Ends the server's process and all processes that it started. */
  end(): Promise<void> {
    this.#isAlive = false;
    this.#ended ??= this.#process.end(true);
    return this.#ended;
  }

  /** Returns the result of `work`. Rejects if the limit passes, the process ends, or the signal aborts. */
  async within<T>(limitMs: number, work: Promise<T>, signal: AbortSignal): Promise<T> {
    const tooLong = `Codex did not answer within ${limitMs / 1_000} s.`;
    return this.#life.withinLimit(work, limitMs, { tooLong, signal });
  }

  #send(message: object): void {
    this.#process.write(JSON.stringify(message));
  }

  #read(line: string): void | Promise<void> {
    if (line.length <= largeLine) return this.#take(parseLine(line), line);
    return parseLargeLine(line).then((message) => this.#take(message, line));
  }

  /**
   * Handles a line, which is one message: a request has an id and a method, a notification has only a method, and
   * an answer has only an id.
   */
  #take(message: unknown, line: string): void {
    if (!isRecord(message)) return this.#process.note(`${line}\n`);
    const { id, method } = message;
    const params = isRecord(message['params']) ? message['params'] : {};
    if (typeof method !== 'string') this.#answered(message);
    else if (typeof id === 'string' || typeof id === 'number') void this.#serve(method, params, id);
    else this.#notified(method, params);
  }

  #notified(method: string, params: Params): void {
    const { threadId, turn } = params;
    if (method === 'thread/closed') this.#closing.get(String(threadId))?.();
    if (typeof threadId === 'string') {
      const thread = this.#threads.get(threadId) ?? this.#adopt(threadId, turn);
      thread?.onNotification(method, params);
    } else {
      for (const one of new Set(this.#threads.values())) one.onNotification(method, params);
    }
  }

  /**
   * Assigns a task's thread to the session's thread that started the task, and returns that thread. The task's turn
   * contains the id of the turn that started the task (`rootTurnId`).
   */
  #adopt(threadId: string, turn: unknown): HostedThread | undefined {
    const root = isRecord(turn) ? turn['rootTurnId'] : undefined;
    if (typeof root !== 'string') return undefined;
    const served = this.#threads.values().find((thread) => thread.owns(root));
    if (served !== undefined) this.#threads.set(threadId, served);
    return served;
  }

  #answered({ id, result, error }: Record<string, unknown>): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    try {
      if (!isRecord(error)) return pending?.resolve(result);
      pending?.reject(new CodexError(Number(error['code']), String(error['message'])));
    } catch (problem) {
      pending?.reject(asError(problem));
    }
  }

  async #serve(method: string, params: Params, id: string | number): Promise<void> {
    try {
      const thread = this.#threads.get(params['threadId']);
      if (thread === undefined) throw new Error(`No open session can answer ${method}.`);
      this.#send({ id, result: await thread.onRequest(method, params, id) });
    } catch (error) {
      this.#send({ id, error: { code: -32_601, message: thrownMessage(error) } });
    }
  }

  #onGone(reason: Error): void {
    this.#isAlive = false;
    this.#life.end(reason);
    this.#pending.clear();
    const threads = new Set(this.#threads.values());
    this.#threads.clear();
    for (const one of threads) one.onGone(reason);
    // End the process even if it has exited: its children may still run.
    void this.end();
  }
}

/** Returns Codex' version from its greeting, which has the form `liminal/0.169.0 (…)`. */
function versionIn(greeting: unknown): string | undefined {
  const userAgent = isRecord(greeting) ? greeting['userAgent'] : undefined;
  return typeof userAgent === 'string' ? /\/(\d[\w.-]*)/.exec(userAgent)?.[1] : undefined;
}

function homeIn(greeting: unknown): string | undefined {
  const home = isRecord(greeting) ? greeting['codexHome'] : undefined;
  return typeof home === 'string' && home !== '' ? home : undefined;
}
