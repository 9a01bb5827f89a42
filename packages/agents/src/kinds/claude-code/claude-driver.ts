import { randomUUID } from 'node:crypto';
import { type AgentInfo, type McpServers, thrownMessage } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import { Semaphore } from '../../contract/semaphore.ts';
import type { AgentDriver, SessionOpening } from '../../contract/driver.ts';
import type { ProjectSettings } from '../../contract/project-settings.ts';
import type { StoredFork, StoredSession, StoredTurn } from '../../contract/provider.ts';
import { describeClaude } from './availability.ts';
import { ClaudeSession, type ClaudeSessionOptions, isUuid } from './claude-session.ts';
import { readConfig, type Config } from './config-options.ts';
import { forkStored, isAfterClear } from './fork.ts';
import { findStored, listStored, readHistory } from './history.ts';
import { findClaude, installedClaude, noteFailure } from './program.ts';
import { ProjectInUse } from './project-in-use.ts';
import { readClaudeProject } from './project-settings.ts';
import { loadSdk } from './sdk.ts';
import { findFile, TranscriptMarks } from './transcript-marks.ts';
import { isTaskOutput } from './task-output.ts';

export interface ClaudeCodeOptions {
  /**
   * The environment for Claude Code. Default: this process's environment. The environment also determines where
   * sessions are stored.
   */
  env?: NodeJS.ProcessEnv;
  /** How many processes may start at the same time. Default 2. */
  maxStarts?: number;
  mcpServers?: McpServers;
  /** Text that is added to Claude Code's own system prompt, in every session. */
  appendSystemPrompt?: string | undefined;
  /** Whether messages that begin with `!` are run as commands, as in a terminal. Default: yes. */
  userCommands?: boolean | undefined;
  /** The path of the Claude Code to run. If set, no other Claude Code is searched for. */
  program?: string | undefined;
}

const name = 'Claude Code';

/** Claude Code through Anthropic's Agent SDK: one process per session, for all its turns. */
export class ClaudeDriver implements AgentDriver<Config> {
  readonly cliType = 'claude-code';
  readonly name = name;
  readonly prewarms = true;
  readonly rewinds = true;
  readonly rewindsConversation = true;
  readonly backgrounds = true;
  readonly usesGrants = true;
  readonly managesMcp = true;
  readonly takesDirectories = true;
  readonly tellsSetup = true;
  readonly answersAside = true;
  readonly isTaskOutput = isTaskOutput;
  readonly starts: Semaphore;
  readonly #env: NodeJS.ProcessEnv;
  readonly #mcpServers: McpServers;
  readonly #appendSystemPrompt: string | undefined;
  readonly #program: string | undefined;
  readonly #userCommands: boolean;
  readonly #marks = new TranscriptMarks();

  constructor(options: ClaudeCodeOptions = {}) {
    const { env = process.env, maxStarts = 2, mcpServers = {}, appendSystemPrompt } = options;
    this.starts = new Semaphore(maxStarts);
    this.#env = env;
    this.#mcpServers = mcpServers;
    this.#appendSystemPrompt = appendSystemPrompt;
    this.#program = options.program;
    this.#userCommands = options.userCommands ?? true;
  }

  async open(opening: SessionOpening<Config>): Promise<ClaudeSession> {
    const { projectDir, output, signal } = opening;
    const options = {
      ...(await startOptionsOf(opening)),
      project: await ProjectInUse.decide(projectDir, this.#env, opening.projectTrust),
      projectDir,
      additionalDirectories: opening.additionalDirectories ?? [],
      env: this.#env,
      mcpServers: { ...this.#mcpServers, ...opening.mcpServers },
      appendSystemPrompt: this.#appendSystemPrompt,
      runsUserCommands: this.#userCommands,
      output,
      marks: this.#marks,
    };
    const { used } = await findClaude(this.#env['PATH']);
    const program = this.#program ?? used?.path;
    try {
      return await startAllowed({ ...options, program }, signal);
    } catch (error) {
      const installed = installedClaude();
      const isOwn = this.#program === undefined && used?.isOwn === true;
      if (signal.aborted || !isOwn || installed === undefined) throw error;
      const notice = `Your own ${used.path} did not start. This session runs Liminal’s Claude Code ${installed.version} instead.`;
      const session = await startAllowed(
        { ...options, program: installed.path, notices: [...options.notices, notice] },
        signal,
      );
      // The Claude Code that is installed with Liminal has started under the same conditions, so the user's own Claude
      // Code is the cause of the failure.
      await noteFailure(used, thrownMessage(error));
      return session;
    }
  }

  readProjectSettings(projectDir: string): Promise<ProjectSettings | undefined> {
    return readClaudeProject(projectDir, this.#env);
  }

  describe(): Promise<AgentInfo> {
    return describeClaude(this.#env);
  }

  async findProjectDir(agentSessionId: string): Promise<string | undefined> {
    return (await findStored(agentSessionId))?.projectDir;
  }

  listStoredSessions(projectDir?: string): Promise<StoredSession[]> {
    return listStored(projectDir);
  }

  storedMark(agentSessionId: string): Promise<string | undefined> {
    return this.#marks.read(agentSessionId);
  }

  async readStoredHistory(agentSessionId: string, projectDir: string): Promise<StoredTurn[]> {
    const turns = await readHistory(agentSessionId, projectDir);
    if (turns === undefined) throw errors.SESSION_NOT_FOUND.unknown(name, agentSessionId);
    return turns;
  }

  async fork(agentSessionId: string, projectDir: string, turnId: string): Promise<StoredFork> {
    if (!(await findStored(agentSessionId, projectDir)))
      throw errors.SESSION_NOT_FOUND.unknown(name, agentSessionId);
    const fork = await forkStored(agentSessionId, projectDir, turnId);
    if (fork !== undefined) return fork;
    const wasCleared = await isAfterClear(agentSessionId, projectDir);
    throw errors.TURN_NOT_STORED[wasCleared ? 'cleared' : 'notStored'](name);
  }

  async renameStored(agentSessionId: string, projectDir: string, title: string): Promise<void> {
    const { renameSession } = await loadSdk();
    await renameSession(agentSessionId, title, { dir: projectDir });
  }
}

type StartOptions = ClaudeSessionOptions & { notices: string[] };

/**
 * Starts a session; if an administrator allows only approved MCP servers, starts the session without Liminal's MCP
 * servers.
 */
async function startAllowed(options: StartOptions, signal: AbortSignal): Promise<ClaudeSession> {
  try {
    return await ClaudeSession.start(options, signal);
  } catch (error) {
    const isForbidden = thrownMessage(error).includes('disableSideloadFlags');
    const hasServers = Object.keys(options.mcpServers).length > 0;
    if (signal.aborted || !isForbidden || !hasServers) throw error;
    const notices = [...options.notices, serversForbidden];
    return ClaudeSession.start({ ...options, mcpServers: {}, notices }, signal);
  }
}

const serversForbidden = `The settings of your organization (disableSideloadFlags) allow ${name} only MCP servers that an administrator has approved. This session runs without Liminal’s MCP servers.`;

/** Returns the start options of the session's process. Throws ProviderError `SESSION_NOT_FOUND` or `INVALID_OPTION`. */
async function startOptionsOf({ sessionId, projectDir, config, earlier }: SessionOpening<Config>) {
  if (earlier === undefined) {
    const agentSessionId = isUuid(sessionId) ? sessionId : randomUUID();
    return { agentSessionId, resume: false, config: readConfig(config), notices: [] };
  }
  const { agentSessionId = sessionId, memory, hasAnswered } = earlier;
  const read = readConfig(config, memory);
  const isStored = (await findStored(agentSessionId, projectDir)) !== undefined;
  if (isStored) return { agentSessionId, resume: true, config: read, notices: [] };
  const isLost = (await hasAnswered?.()) === true;
  // Claude Code does not store a session without messages: if the session was open on this server (it has a `memory`),
  // begin the session again.
  if (!isLost && memory === undefined) throw errors.SESSION_NOT_FOUND.unknown(name, sessionId);
  // Claude Code does not start a session with the id of an existing file, even if the file is unreadable.
  const isFree = isUuid(agentSessionId) && (await findFile(agentSessionId)) === undefined;
  const begun = { agentSessionId: isFree ? agentSessionId : randomUUID(), resume: false };
  return { ...begun, config: read, notices: isLost ? [lost] : [] };
}

/** By default, Claude Code deletes the transcripts of sessions that were not used for 30 days. */
const lost = `${name} no longer has this session. It starts over: it does not know what was said before.`;
