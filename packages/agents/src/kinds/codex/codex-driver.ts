import type { AgentInfo, McpServer, McpServers } from '@liminal/protocol';
import { thrownMessage } from '@liminal/protocol';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { AgentPool } from '../../base/agent-pool.ts';
import { Semaphore } from '../../contract/semaphore.ts';
import type { AgentDriver, EarlierSession, SessionOpening } from '../../contract/driver.ts';
import { errors, inUseByCodex, ProviderError } from '../../contract/errors.ts';
import { endTree, processMark, type ProcessMark } from '../../process/index.ts';
import type { ProjectSettings, ProjectTrust } from '../../contract/project-settings.ts';
import type { StoredFork, StoredSession, StoredTurn } from '../../contract/provider.ts';
import { AppServer, CodexError, type OpenThread } from './app-server.ts';
import { describeCodex } from './availability.ts';
import { CodexSession, type CodexMemory } from './codex-session.ts';
import { layered, listProfiles, readProfile } from './profiles.ts';
import { findCodex } from './program.ts';
import { readCodexProject, trustConfig } from './project-settings.ts';
import { ListedRollouts } from './listed-rollouts.ts';
import { rolloutFolder, Rollouts } from './rollouts.ts';
import {
  CodexSettings,
  type Offer,
  type Opened,
  readModels,
  readModes,
  readOpened,
} from './settings.ts';
import { forkThread, listThreads, readThread } from './stored-threads.ts';

export interface CodexOptions {
  /** The program to run. Default: the program that `findCodex` returns. */
  command?: string;
  /** Arguments before `app-server`. */
  args?: readonly string[];
  /** Variables that are added to the inherited environment. */
  env?: Record<string, string>;
  /**
   * The environment for Codex. Default: this process's environment. The environment also determines where Codex stores
   * sessions.
   */
  inherited?: NodeJS.ProcessEnv;
  /**
   * The settings of new sessions, by id. If Codex does not have one of these settings, the session shows a notice about
   * that.
   */
  defaults?: Record<string, string>;
  /** MCP servers for all sessions, besides those in Codex' own configuration. */
  mcpServers?: McpServers;
  /** Whether messages that begin with `!` are run as commands, as in a terminal. Default: true. */
  userCommands?: boolean | undefined;
  /** The number of sessions that may open at once. Default 2. */
  maxStarts?: number;
  /** How long the program may take from its start to its greeting, in ms. Default: 20 s. */
  startLimitMs?: number;
}

type Opening = SessionOpening<CodexMemory>;

/** How long the program's path is cached, ms. */
const programMs = 60_000;
/** How long Codex may take to open or read a thread, in ms. */
const openLimitMs = 60_000;

/** Codex, by `codex app-server`: one process for all sessions. */
export class CodexDriver implements AgentDriver<CodexMemory> {
  readonly cliType = 'codex';
  readonly name = 'Codex';
  readonly prewarms = true;
  readonly usesGrants = true;
  readonly managesMcp = true;
  readonly takesDirectories = true;
  readonly rewindsConversation = true;
  readonly tellsSetup = true;
  readonly answersAside = true;
  readonly starts: Semaphore;
  readonly #options: CodexOptions;
  readonly #inherited: NodeJS.ProcessEnv;
  readonly #env: NodeJS.ProcessEnv;
  readonly #rollouts: Rollouts;
  readonly #listed: ListedRollouts;
  #found: { path: string; until: number } | undefined;
  readonly #pool = new AgentPool((cwd, signal) => this.#start(cwd, signal), true);

  constructor(options: CodexOptions = {}) {
    const { inherited = process.env, env = {}, maxStarts = 2 } = options;
    this.#options = options;
    this.#inherited = inherited;
    this.#env = { ...inherited, ...env };
    this.#rollouts = new Rollouts(this.#env);
    this.#listed = new ListedRollouts(rolloutFolder(this.#env));
    this.starts = new Semaphore(maxStarts);
  }

  readProjectSettings(projectDir: string): Promise<ProjectSettings | undefined> {
    return readCodexProject(projectDir, this.#env);
  }

  async describe(): Promise<AgentInfo> {
    const found = await describeCodex(this.#env, this.#options.command, this.#pool.running);
    const profiles = await listProfiles(this.#env);
    return { ...found, ...(profiles.length > 0 && { profiles }) };
  }

  async open(opening: Opening): Promise<CodexSession> {
    const { signal } = opening;
    const server = await this.#take(signal);
    let session: CodexSession | undefined;
    const work = this.#openThread(server, opening, (opened) => (session = opened));
    try {
      return await server.within(openLimitMs, work, signal);
    } catch (error) {
      const giveUp = (): Promise<void> => session?.close() ?? this.#pool.release(server);
      // If other sessions use the process, the process continues and the thread may still open. Close the thread in
      // that case.
      if (session === undefined && !this.#pool.isLastUser(server)) void work.then(giveUp, giveUp);
      else await giveUp();
      if (error instanceof ProviderError) throw error;
      throw startError(server.explain(error), error);
    }
  }

  findProjectDir(agentSessionId: string): Promise<string | undefined> {
    return this.#rollouts.projectDir(agentSessionId);
  }

  /** Starts a program if none runs, so this method is called only when a user asks for the list. */
  listStoredSessions(projectDir?: string): Promise<StoredSession[]> {
    return this.#withServer((server) => listThreads(server, projectDir));
  }

  async peekStoredSessions(): Promise<StoredSession[] | undefined> {
    return this.#pool.running === undefined ? undefined : this.listStoredSessions();
  }

  scanStoredSessions(): Promise<StoredSession[]> {
    return this.#listed.list();
  }

  storedMark(agentSessionId: string): Promise<string | undefined> {
    return this.#rollouts.mark(agentSessionId);
  }

  readStoredHistory(agentSessionId: string, projectDir: string): Promise<StoredTurn[]> {
    return this.#withServer((server) => readThread(server, agentSessionId, projectDir));
  }

  fork(agentSessionId: string, projectDir: string, turnId: string): Promise<StoredFork> {
    return this.#withServer((server) => forkThread(server, agentSessionId, projectDir, turnId));
  }

  async renameStored(threadId: string, _projectDir: string, title: string): Promise<void> {
    await this.#withServer((server) =>
      server.request('thread/name/set', { threadId, name: title }),
    );
  }

  /** Opens or resumes a thread. Calls `onSession` as soon as the thread is open. */
  async #openThread(
    server: AppServer,
    opening: Opening,
    onSession: (session: CodexSession) => void,
  ): Promise<CodexSession> {
    const { projectDir, earlier, sessionId, output, projectTrust } = opening;
    const { profile = '', ...config } = opening.config;
    const { mcpServers: named, additionalDirectories = [] } = opening;
    const { defaults = {} } = this.#options;
    const mcpServers = { ...this.#options.mcpServers, ...named };
    const mark = processMark('codex');
    const take = (answer: unknown): CodexSession => {
      const opened = openedIn(answer);
      const session = new CodexSession({
        server,
        threadId: opened.thread.id,
        projectDir,
        output,
        settings: new CodexSettings(opened),
        memory: opened.instructionSources,
        profile,
        rollouts: this.#rollouts,
        runsUserCommands: this.#options.userCommands ?? true,
        directories: additionalDirectories,
        startThread,
        leave: (threads) => this.#leave(server, threads, mark),
      });
      server.admit(opened.thread.id, session);
      onSession(session);
      return session;
    };
    const trust = await this.#trustIn(server, projectDir, projectTrust);
    const own = threadConfig(mcpServers, mark);
    const params = {
      cwd: projectDir,
      ...rootsOf(projectDir, additionalDirectories),
      config: {
        ...(profile === '' ? own : layered(await readProfile(this.#env, profile), own)),
        ...trust,
      },
    };
    const startThread = (directories: readonly string[]): Promise<Opened> =>
      server.request('thread/start', { ...params, ...rootsOf(projectDir, directories) }, openedIn);
    const begin = (): Promise<CodexSession> => server.request('thread/start', params, take);
    const resume = (threadId: string): Promise<CodexSession> =>
      server.request('thread/resume', { ...params, threadId, excludeTurns: true }, take);
    const opened = earlier ? resumeOrBegin(earlier, sessionId, begin, resume) : begin();
    // Read the models and modes while the thread opens, because opening takes longer.
    const [session, offer] = await Promise.all([opened, offerOf(server)]);
    const wanted = [
      { config: earlier ? {} : defaults, isLenient: true },
      { config: earlier?.memory?.config ?? {}, isLenient: true },
      { config, isLenient: earlier !== undefined },
    ];
    await session.begin(offer, wanted, refusedServers(mcpServers));
    return session;
  }

  /**
   * Returns the config that makes a thread trust its project folder, or not trust the folder. Without this config,
   * Codex trusts every folder in which its user lets it write, and writes the trust into the user's configuration.
   */
  async #trustIn(
    server: AppServer,
    projectDir: string,
    projectTrust: ProjectTrust | undefined,
  ): Promise<Record<string, unknown>> {
    const settings = await readCodexProject(projectDir, this.#env);
    const isUsed = settings !== undefined && (await projectTrust?.uses(settings)) === true;
    projectTrust?.started(settings, isUsed || settings === undefined);
    if (settings !== undefined) return trustConfig(projectDir, isUsed ? 'trusted' : 'untrusted');
    // If the user has set no sandbox mode, leave the folder as it is: Codex does not trust folders by itself then, and
    // trusting the folder would change the sandbox.
    return (await writesByDefault(server)) ? trustConfig(projectDir, 'trusted') : {};
  }

  async #take(signal: AbortSignal): Promise<AppServer> {
    try {
      return await this.#pool.take(tmpdir(), signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw startError(thrownMessage(error), error);
    }
  }

  /**
   * Closes a session's threads and ends everything that the threads started. The process keeps running while another
   * session uses the process.
   */
  async #leave(
    server: AppServer,
    threads: readonly OpenThread[],
    { id: mark }: ProcessMark,
  ): Promise<void> {
    if (!this.#pool.isLastUser(server)) await server.leave(threads);
    await Promise.all([this.#pool.release(server, true), endTree({ mark })]);
  }

  async #start(cwd: string, signal: AbortSignal): Promise<AppServer> {
    const { args = [], env = {}, startLimitMs = 20_000 } = this.#options;
    const path = this.#options.command ?? (await this.#program());
    const program = { command: path, args: [...args, 'app-server'], env, cwd };
    return AppServer.start(
      { ...program, cliType: this.cliType, inherited: this.#inherited },
      startLimitMs,
      signal,
    );
  }

  /** Returns the program's path, cached for `programMs`. */
  async #program(): Promise<string> {
    const now = Date.now();
    if (this.#found === undefined || this.#found.until < now) {
      const path = (await findCodex(this.#env['PATH']))?.path ?? 'codex';
      this.#found = { path, until: now + programMs };
    }
    return this.#found.path;
  }

  /** Calls `work` with the running process; starts a process if none runs. */
  #withServer<T>(work: (server: AppServer) => Promise<T>): Promise<T> {
    return this.starts.run(async () => {
      const { signal } = new AbortController();
      const server = await this.#take(signal);
      try {
        return await server.within(openLimitMs, work(server), signal);
      } finally {
        await this.#pool.release(server);
      }
    });
  }
}

/** Reads the answer that opens a thread. Throws Error if the answer has no thread. */
function openedIn(answer: unknown): Opened {
  const opened = readOpened(answer);
  if (opened === undefined) throw new Error('Codex opened no thread.');
  return opened;
}

const rootsOf = (projectDir: string, directories: readonly string[]) => ({
  runtimeWorkspaceRoots: [projectDir, ...directories],
});

/** Codex' error if another program has the thread open. */
const isInUse = /active writer/;

/** Reads the models and modes to choose from. */
async function offerOf(server: AppServer): Promise<Offer> {
  const [models, modes] = await Promise.all([
    server.request('model/list', {}).then(readModels, () => []),
    server.request('collaborationMode/list', {}).then(readModes, () => []),
  ]);
  return { models, modes };
}

const UserConfig = z.looseObject({
  config: z.looseObject({ sandbox_mode: z.string().nullish().catch(undefined) }),
});

/** Returns whether the user's configuration lets Codex write in project folders. */
async function writesByDefault(server: AppServer): Promise<boolean> {
  const { config } = UserConfig.safeParse(await server.tryRequest('config/read', {})).data ?? {};
  return (config?.sandbox_mode ?? 'read-only') !== 'read-only';
}

/** Resumes the earlier thread. If Codex has lost the thread, begins a new thread, with a notice in its first turn. */
async function resumeOrBegin(
  earlier: EarlierSession<CodexMemory>,
  sessionId: string,
  begin: () => Promise<CodexSession>,
  resume: (threadId: string) => Promise<CodexSession>,
): Promise<CodexSession> {
  const { agentSessionId: threadId } = earlier;
  try {
    return await resume(threadId ?? sessionId);
  } catch (error) {
    if (!(error instanceof CodexError)) throw error;
    if (isInUse.test(error.message)) {
      throw inUseByCodex({ cause: error });
    }
    const isLost = (await earlier.hasAnswered?.()) === true;
    if (threadId === undefined && !isLost) {
      const why = thrownMessage(error);
      throw errors.SESSION_NOT_FOUND.refused('Codex', sessionId, why, { cause: error });
    }
    const session = await begin();
    // Codex does not store a thread without a message.
    if (!isLost) return session;
    const why = `Codex could not resume this session. ${thrownMessage(error)}`.replace(
      /(?<![.!?])$/,
      '.',
    );
    session.noticeInFirstTurn(
      `${why} A new thread begins: Codex does not know what was said before.`,
    );
    return session;
  }
}

/**
 * Returns the config that Liminal passes each time it opens a thread; Codex does not store the config with the thread.
 */
function threadConfig(servers: McpServers, { env: mark }: ProcessMark): Record<string, unknown> {
  const config: Record<string, unknown> = {
    // Close a thread and its MCP servers as soon as Liminal unsubscribes.
    thread_unload_delay_secs: 0,
  };
  for (const [name, value] of Object.entries(mark)) {
    config[`shell_environment_policy.set.${name}`] = value;
  }
  for (const [name, server] of Object.entries(servers)) {
    if (server.type !== 'sse') config[`mcp_servers.${name}`] = inCodex(server, mark);
  }
  return config;
}

function inCodex(server: McpServer, mark: Record<string, string>): Record<string, unknown> {
  if (server.type !== 'stdio') return { url: server.url, http_headers: server.headers };
  const { command, args, env } = server;
  return { command, args, env: { ...env, ...mark } };
}

const refusedServers = (servers: McpServers): string[] =>
  Object.entries(servers)
    .filter(([, { type }]) => type === 'sse')
    .map(([name]) => `Codex cannot use the MCP server “${name}”: it does not support SSE.`);

const startError = (why: string, cause: unknown): ProviderError =>
  errors.SESSION_CREATE_FAILED.notStarted('Codex', why, { cause });
