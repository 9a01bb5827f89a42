import type { AgentInfo, McpServers } from '@liminal/protocol';
import { FairSemaphore } from '../../base/fair-semaphore.ts';
import type { AgentDriver, AgentSession, SessionOpening } from '../../contract/driver.ts';
import type { AgentIntroduction, StoredFork } from '../../contract/provider.ts';
import { HiddenFolders } from '../../base/hidden-folders.ts';
import type { Tool } from '../tools/index.ts';
import { ModelCatalog, type ModelServer } from './catalog.ts';
import { introduce } from './introduction.ts';
import { ModelSession } from './model-session.ts';
import { defaultRetries, type RetrySettings } from './retries.ts';

export interface ModelOptions {
  /** All model servers; each server is an agent type. */
  servers: readonly ModelServer[];
  tools: readonly Tool[];
  mcpServers?: McpServers;
  /** Folders that tools cannot read; a link from `AGENTS.md` into such a folder is not followed. */
  hiddenFolders?: readonly string[];
  /** Environment variables that contain keys. The tools' programs do not get these variables. */
  hiddenVariables?: readonly string[];
  /** Whether models may write a script instead of many calls; default: yes. */
  runsScripts?: boolean;
  retries?: RetrySettings;
  /** The most requests to the model in one turn. */
  maxRounds?: number;
}

const defaultRounds = 250;
/**
 * The most scripts that run at the same time, per session and in total. Each script uses a thread and about 20 MiB,
 * also while one of its calls waits for a person.
 */
const scriptsAtOnce = { each: 4, total: 16 };
/** The most MCP servers that start at the same time, per session and in total. */
const mcpStartsAtOnce = { each: 8, total: 32 };

interface SharedLimits {
  scripts: FairSemaphore;
  mcpStarts: FairSemaphore;
}

/**
 * Returns a driver for each model server, in the same order. A session can continue with any model of any of the
 * servers.
 */
export function createModelDrivers(options: ModelOptions): AgentDriver[] {
  const catalog = new ModelCatalog(options.servers);
  const limits = {
    scripts: new FairSemaphore(scriptsAtOnce),
    mcpStarts: new FairSemaphore(mcpStartsAtOnce),
  };
  return options.servers.map(({ name }) => new ModelDriver(name, catalog, options, limits));
}

/**
 * The agent for bare models: runs Liminal's own tool loop on the answers of a model server. The driver starts no
 * process and stores nothing: the conversation is in Liminal's history.
 */
class ModelDriver implements AgentDriver {
  readonly cliType: string;
  readonly name: string;
  readonly prewarms = true;
  readonly resumes = true;
  readonly usesGrants = true;
  readonly takesDirectories = true;
  readonly rewindsConversation = true;
  readonly #server: ModelServer;
  readonly #catalog: ModelCatalog;
  readonly #options: ModelOptions;
  readonly #hiddenFolders: HiddenFolders;
  readonly #limits: SharedLimits;

  constructor(name: string, catalog: ModelCatalog, options: ModelOptions, limits: SharedLimits) {
    this.cliType = name;
    this.#server = catalog.server(name);
    this.name = this.#server.title;
    this.#catalog = catalog;
    this.#options = options;
    this.#hiddenFolders = new HiddenFolders(options.hiddenFolders);
    this.#limits = limits;
  }

  async open(opening: SessionOpening): Promise<AgentSession> {
    const { tools, mcpServers, hiddenVariables = [], runsScripts = true } = this.#options;
    const { retries = defaultRetries, maxRounds = defaultRounds } = this.#options;
    const session = new ModelSession({
      opening,
      name: this.cliType,
      catalog: this.#catalog,
      tools,
      mcpServers: { ...mcpServers, ...opening.mcpServers },
      hiddenFolders: this.#hiddenFolders,
      hiddenVariables,
      runsScripts,
      ...this.#limits,
      retries,
      maxRounds,
    });
    if (opening.earlier?.resuming === true) await resumeTurn(session, opening.signal);
    return session;
  }

  async fork(): Promise<StoredFork> {
    return { copies: new Map(), left: new Set() };
  }

  async introduce(limitMs: number): Promise<AgentIntroduction> {
    return introduce(this.#server, limitMs);
  }

  async describe(): Promise<AgentInfo> {
    const { cliType, name } = this;
    const { problem, model } = this.#server;
    const what = model === undefined ? 'Bare models' : `${model} and others`;
    const description = `${what}, with Liminal’s own tools.`;
    const mcpTransports: AgentInfo['mcpTransports'] = ['stdio', 'http', 'sse'];
    const info = { cliType, name, description, mcpTransports };
    if (problem === undefined) return { ...info, available: true };
    return { ...info, available: false, reason: problem };
  }
}

/** Resumes a turn that was cut off. Closes the session if the turn cannot be resumed, or if the signal aborts first. */
async function resumeTurn(session: ModelSession, signal: AbortSignal): Promise<void> {
  const stop = (): void => void session.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await session.resume();
    signal.throwIfAborted();
  } catch (error) {
    await session.close();
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
