import { homedir } from 'node:os';
import { z } from 'zod';
import { isoNow } from '../../base/iso-clock.ts';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { StoredSession, StoredTurn } from '../../contract/provider.ts';
import type { AcpAgent } from './acp-agent.ts';
import { describeError, readRpcError, rpc } from './errors.ts';
import { listSessions, type Listed } from './listed-sessions.ts';
import { Replay } from './replay.ts';
import { readReplay, type ReplayedUpdate } from './translate/replay.ts';

export interface StoredSessionsOptions {
  cliType: string;
  /** The agent's name in the UI. */
  name: string;
  /** Returns the process of any session, if there is one. */
  running: () => AcpAgent | undefined;
  /** Returns the process that has a session open, if there is one. */
  hosting: (sessionId: string) => AcpAgent | undefined;
  /** Starts a process for requests; rejects with why it did not start. */
  start: (cwd: string, signal: AbortSignal) => Promise<AcpAgent>;
  /** The limit for one request, ms. */
  limitMs: number;
  /** How long the process is kept for the next request, ms. */
  idleMs: number;
}

/**
 * The sessions in an agent's own store. Only the agent can read its store: if no session has a process, a process is
 * started just for the requests, and is ended `idleMs` after the last request.
 */
export class StoredSessions {
  readonly #options: StoredSessionsOptions;
  readonly #abort = new AbortController();
  #agent: Promise<AcpAgent> | undefined;
  /** The ids of the sessions that the process has loaded. */
  readonly #loaded = new Set<string>();
  /** Processes that are ending. */
  readonly #ending = new Set<Promise<void>>();
  readonly #asking = new Set<Promise<unknown>>();
  #idle: NodeJS.Timeout | undefined;
  /** Set once an agent has reported that it cannot list sessions: no process is started for a list again. */
  #cannotList = false;

  constructor(options: StoredSessionsOptions) {
    this.#options = options;
  }

  /** Lists the sessions, newest first; folder by folder if the agent lists nothing without a folder. */
  async list(folders: readonly string[] = []): Promise<StoredSession[]> {
    const found = await this.peek(folders);
    if (found !== undefined) return found;
    // Read the conversation again for each caller: an editor may have created the session a moment ago.
    return this.#ask((agent) => this.#readList(agent, folders));
  }

  /** Lists the sessions without starting a process; undefined if no process runs. */
  async peek(folders: readonly string[]): Promise<StoredSession[] | undefined> {
    if (this.#cannotList || this.#abort.signal.aborted) return [];
    const agent = this.#options.running();
    if (agent === undefined) return undefined;
    try {
      const reading = this.#readList(agent, folders);
      return await agent.within(this.#options.limitMs, reading, this.#abort.signal);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Returns the conversation, oldest turn first. Throws `SESSION_NOT_FOUND`. */
  async read(agentSessionId: string, projectDir: string): Promise<StoredTurn[]> {
    const { cliType } = this.#options;
    // A replay has no times; the session's last change is closer to the truth than the current time.
    const known = (await this.list([projectDir])).find(
      ({ sessionId }) => sessionId === agentSessionId,
    );
    const timestamp = known?.updatedAt ?? isoNow();
    const updates = await this.#ask((agent) => {
      this.#loaded.add(agentSessionId);
      return replaySession(agent, agentSessionId, projectDir);
    });
    return readReplay(
      updates.map((update): ReplayedUpdate => ({ update, timestamp })),
      { cliType, agentSessionId },
    );
  }

  /**
   * Copies a whole conversation, in the process that has the session open if there is one. Returns the copy's id.
   * Throws `NOT_SUPPORTED`, `SESSION_NOT_FOUND`.
   */
  async fork(agentSessionId: string, projectDir: string): Promise<string> {
    const { name, hosting, limitMs } = this.#options;
    const asked = async (agent: AcpAgent): Promise<string> => {
      if (agent.forks) return fork(agent, agentSessionId, projectDir);
      throw errors.NOT_SUPPORTED.fork(name);
    };
    const host = hosting(agentSessionId);
    if (host === undefined) {
      this.#loaded.add(agentSessionId);
      const copy = await this.#ask(asked, 'notForked');
      this.#loaded.add(copy);
      return copy;
    }
    try {
      return await host.within(limitMs, asked(host), this.#abort.signal);
    } catch (error) {
      throw this.#failure(error, 'notForked');
    }
  }

  /**
   * Ends the process if it has loaded this session. Call this before another process opens the session: a process of
   * Codex locks the sessions that it has loaded, even after closing them.
   */
  async release(agentSessionId: string): Promise<void> {
    if (!this.#loaded.has(agentSessionId)) return;
    // Wait for other requests to the process.
    await Promise.allSettled(this.#asking);
    clearTimeout(this.#idle);
    this.#end();
    await Promise.all(this.#ending);
  }

  /** Ends the process; no process is started after that. */
  async close(): Promise<void> {
    this.#abort.abort();
    clearTimeout(this.#idle);
    this.#end();
    await Promise.all(this.#ending);
  }

  async #readList(agent: AcpAgent, folders: readonly string[]): Promise<StoredSession[]> {
    if (agent.capabilities.sessionCapabilities?.list !== true) {
      this.#cannotList = true;
      return [];
    }
    try {
      const found = await listSessions(agent, folders);
      return found.map(storedSession).toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    } catch (error) {
      // Before a sign-in, show an empty list instead of an error: a new session explains how to sign in.
      if (readRpcError(error)?.code === rpc.authRequired) return [];
      throw error;
    }
  }

  async #ask<T>(
    question: (agent: AcpAgent) => Promise<T>,
    failed?: keyof typeof errors.PROTOCOL_ERROR,
  ): Promise<T> {
    clearTimeout(this.#idle);
    const asked = this.#answer(question);
    this.#asking.add(asked);
    try {
      return await asked;
    } catch (error) {
      throw this.#failure(error, failed);
    } finally {
      this.#asking.delete(asked);
      if (this.#asking.size === 0 && !this.#abort.signal.aborted) {
        this.#idle = setTimeout(() => this.#end(), this.#options.idleMs);
      }
    }
  }

  async #answer<T>(question: (agent: AcpAgent) => Promise<T>): Promise<T> {
    const agent = await this.#running();
    return agent.within(this.#options.limitMs, question(agent), this.#abort.signal);
  }

  async #running(): Promise<AcpAgent> {
    const known = this.#agent;
    const agent = await known?.catch(() => undefined);
    if (agent?.isAlive === true) return agent;
    // Another request may have started a process in the meantime.
    if (this.#agent === known || this.#agent === undefined) {
      this.#abort.signal.throwIfAborted();
      this.#agent = this.#options.start(homedir(), this.#abort.signal);
    }
    return this.#agent;
  }

  #end(): void {
    const agent = this.#agent;
    this.#agent = undefined;
    this.#loaded.clear();
    if (agent === undefined) return;
    const ended = agent.then(
      (started) => started.end(),
      () => undefined,
    );
    this.#ending.add(ended);
    void ended.finally(() => this.#ending.delete(ended));
  }

  #failure(
    error: unknown,
    failed: keyof typeof errors.PROTOCOL_ERROR = 'notListed',
  ): ProviderError {
    if (error instanceof ProviderError) return error;
    const { name } = this.#options;
    const rpcError = readRpcError(error);
    if (rpcError?.code === rpc.notFound) {
      return errors.SESSION_NOT_FOUND.notStored(name, { cause: error });
    }
    return errors.PROTOCOL_ERROR[failed](name, describeError(error), { cause: error });
  }
}

const Forked = z.looseObject({ sessionId: z.string().min(1) });

/** Forks a session and closes the copy at once: the copy gets its settings when it is opened. */
async function fork(agent: AcpAgent, sessionId: string, cwd: string): Promise<string> {
  const answer = await agent.open('session/fork', { sessionId, cwd, mcpServers: [] });
  const copy = Forked.safeParse(answer).data?.sessionId;
  if (copy === undefined) throw new Error('The agent’s answer to “session/fork” names no session.');
  await agent.leave(copy);
  return copy;
}

/** Returns a session's conversation, replayed by `session/load`; empty if the agent cannot load sessions. */
async function replaySession(
  agent: AcpAgent,
  sessionId: string,
  projectDir: string,
): Promise<unknown[]> {
  if (agent.capabilities.loadSession !== true) return [];
  const replayed = new Replay();
  agent.admit(sessionId, {
    onUpdate: (update) => void replayed.takes(update),
    onGone: () => replayed.end(),
  });
  try {
    await agent.open('session/load', { sessionId, cwd: projectDir, mcpServers: [] });
    replayed.answered({ how: 'loaded', isReplayDue: true });
    return await replayed.take();
  } finally {
    replayed.end();
    await agent.leave(sessionId);
  }
}

function storedSession({ sessionId, cwd: projectDir, title, updatedAt }: Listed): StoredSession {
  const at = new Date(updatedAt ?? 0).toISOString();
  return { sessionId, projectDir, title: title ?? 'Untitled', createdAt: at, updatedAt: at };
}
