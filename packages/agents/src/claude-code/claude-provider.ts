import { randomUUID } from 'node:crypto';
import type { AgentInfo, ApprovalAnswer } from '@liminal/protocol';
import { checkFolder } from '../base/check-folder.ts';
import { ProviderListeners } from '../base/listeners.ts';
import { Sessions } from '../base/sessions.ts';
import { Starts } from '../base/starts.ts';
import { ProviderError } from '../errors.ts';
import type { McpServers } from '../mcp-servers.ts';
import type {
  CliProvider,
  CreateSessionOptions,
  LoadSessionOptions,
  ProviderSession,
  SendMessageResult,
  StoredSession,
  StoredTurn,
} from '../provider.ts';
import { describeClaude } from './availability.ts';
import {
  ClaudeSession,
  isUuid,
  type ClaudeSessionOptions,
  type RememberedSession,
} from './claude-session.ts';
import { readConfig } from './config-options.ts';
import { findStored, listStored, readHistory } from './history.ts';
import { TranscriptMarks } from './transcript-marks.ts';

export interface ClaudeCodeOptions {
  /** What Claude Code inherits. Default: this process's environment, which also says where its sessions are stored. */
  env?: NodeJS.ProcessEnv;
  /** How many processes may start at the same time. Default 2. */
  maxStarts?: number;
  mcpServers?: McpServers;
  /** Added to Claude Code's own system prompt, in every session. */
  appendSystemPrompt?: string | undefined;
  /** The path of another Claude Code than the one that comes with the SDK. */
  program?: string;
}

type StartOptions = Pick<
  ClaudeSessionOptions,
  'projectDir' | 'agentSessionId' | 'resume' | 'config'
>;

const cliType = 'claude-code';

/** Claude Code through Anthropic's Agent SDK: one process per session, kept over its turns. */
export class ClaudeCodeProvider implements CliProvider {
  readonly cliType = cliType;
  readonly prewarms = true;
  readonly #env: NodeJS.ProcessEnv;
  readonly #mcpServers: McpServers;
  readonly #appendSystemPrompt: string | undefined;
  readonly #program: string | undefined;
  readonly #starts: Starts;
  readonly #listeners = new ProviderListeners();
  readonly #sessions = new Sessions<ClaudeSession, RememberedSession>('Claude Code');
  readonly #marks = new TranscriptMarks();

  constructor(options: ClaudeCodeOptions = {}) {
    const { env = process.env, maxStarts = 2, mcpServers = {}, appendSystemPrompt } = options;
    this.#env = env;
    this.#mcpServers = mcpServers;
    this.#appendSystemPrompt = appendSystemPrompt;
    this.#program = options.program;
    this.#starts = new Starts(maxStarts, 'Claude Code');
  }

  readonly onEvent: CliProvider['onEvent'] = (id, callback) =>
    this.#listeners.onEvent(id, callback);
  readonly onUpsert: CliProvider['onUpsert'] = (id, callback) =>
    this.#listeners.onUpsert(id, callback);
  readonly onTurn: CliProvider['onTurn'] = (id, callback) => this.#listeners.onTurn(id, callback);
  readonly onUpdate: CliProvider['onUpdate'] = (id, callback) =>
    this.#listeners.onUpdate(id, callback);
  readonly onExit: CliProvider['onExit'] = (id, callback) => this.#listeners.onExit(id, callback);

  async createSession(options: CreateSessionOptions): Promise<ProviderSession> {
    const { projectDir, sessionId = randomUUID() } = options;
    const config = readConfig(options.config);
    if (this.isAlive(sessionId)) {
      throw new ProviderError('SESSION_CREATE_FAILED', `There is a session ${sessionId} already.`);
    }
    const agentSessionId = isUuid(sessionId) ? sessionId : randomUUID();
    return this.#start(sessionId, async () => {
      return { projectDir, agentSessionId, resume: false, config };
    });
  }

  async loadSession(sessionId: string, options: LoadSessionOptions = {}): Promise<ProviderSession> {
    if (this.isAlive(sessionId)) return { sessionId, cliType };
    return this.#start(sessionId, () => this.#findStart(sessionId, options));
  }

  async sendMessage(
    sessionId: string,
    message: string,
    { turnId = randomUUID() }: { turnId?: string } = {},
  ): Promise<SendMessageResult> {
    this.#marks.noteSent(turnId);
    await this.#sessions.get(sessionId).send(message, turnId);
    return { turnId };
  }

  async cancelTurn(sessionId: string): Promise<void> {
    await this.#sessions.unlessEnded(sessionId, async (session) => session.cancel());
  }

  async killSession(sessionId: string): Promise<void> {
    await this.#starts.giveUp(sessionId);
    await this.#sessions.unlessEnded(sessionId, async () => this.#sessions.end(sessionId));
  }

  isAlive(sessionId: string): boolean {
    return this.#sessions.isAlive(sessionId);
  }

  describe(): Promise<AgentInfo> {
    return describeClaude(this.#env);
  }

  async close(): Promise<void> {
    await Promise.all(this.#starts.sessionIds.map((sessionId) => this.#starts.giveUp(sessionId)));
    await this.#sessions.endAll();
    this.#listeners.close();
  }

  async answerApproval(
    sessionId: string,
    approvalId: string,
    answer: ApprovalAnswer,
  ): Promise<void> {
    this.#sessions.get(sessionId).answerApproval(approvalId, answer);
  }

  async setConfigOption(sessionId: string, id: string, value: string): Promise<void> {
    await this.#sessions.get(sessionId).setConfigOption(id, value);
  }

  listStoredSessions(projectDir?: string): Promise<StoredSession[]> {
    return listStored(projectDir);
  }

  storedMark(agentSessionId: string): Promise<string | undefined> {
    return this.#marks.read(agentSessionId);
  }

  async readStoredHistory(sessionId: string, projectDir: string): Promise<StoredTurn[]> {
    const turns = await readHistory(sessionId, projectDir);
    if (turns === undefined) throw this.#sessions.notFound(sessionId);
    return turns;
  }

  /** How a session that exists is to be started. */
  async #findStart(
    sessionId: string,
    { projectDir: givenDir, agentSessionId: givenId, config }: LoadSessionOptions,
  ): Promise<StartOptions> {
    const known = this.#sessions.remembered(sessionId);
    const agentSessionId = givenId ?? known?.agentSessionId ?? sessionId;
    const dir = givenDir ?? known?.projectDir;
    const stored = await findStored(agentSessionId, dir);
    const projectDir = dir ?? stored?.projectDir;
    // A session without a message is not stored yet: one that was known here is begun again.
    if (projectDir === undefined || (stored === undefined && known === undefined)) {
      throw this.#sessions.notFound(sessionId);
    }
    const resume = stored !== undefined;
    return { projectDir, agentSessionId, resume, config: readConfig(config, known?.config) };
  }

  #start(sessionId: string, prepare: () => Promise<StartOptions>): Promise<ProviderSession> {
    return this.#starts.begin(sessionId, async (signal) => {
      const options = await prepare();
      await checkFolder(options.projectDir);
      // What a crash has left goes first: no two agents of one session are at work at the same time.
      await this.#sessions.end(sessionId);
      const session = await ClaudeSession.start(
        {
          ...options,
          env: this.#env,
          mcpServers: this.#mcpServers,
          appendSystemPrompt: this.#appendSystemPrompt,
          program: this.#program,
          emit: (draft) => this.#listeners.emit(sessionId, draft),
          update: (update) => this.#listeners.update(sessionId, update),
          exit: (exit) => this.#listeners.exit(sessionId, exit),
        },
        signal,
      );
      this.#sessions.put(sessionId, session);
      return { sessionId, cliType };
    });
  }
}
