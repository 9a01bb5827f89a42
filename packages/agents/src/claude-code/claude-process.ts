import type { UUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type {
  CanUseTool,
  OnElicitation,
  Options,
  Query,
  SDKControlInitializeResponse,
} from '@anthropic-ai/claude-agent-sdk';
import { withinDepth, messageOf } from '@liminal/protocol';
import type { McpServers } from '../mcp-servers.ts';
import { endTree, processMark } from '../process/index.ts';
import { childEnvironment } from './child-environment.ts';
import { ClaudeProgram } from './claude-program.ts';
import { mayBypass, startOptions, type Config } from './config-options.ts';
import { InputQueue } from './input-queue.ts';
import type { Sdk } from './sdk.ts';

export interface ClaudeProcessOptions {
  projectDir: string;
  /** Claude Code's own id of the session, a UUID. */
  agentSessionId: string;
  /** Whether the session is in Claude Code's store already. */
  resume: boolean;
  config: Config;
  env: NodeJS.ProcessEnv;
  mcpServers: McpServers;
  /** Added to Claude Code's own system prompt. */
  appendSystemPrompt: string | undefined;
  /** The path of the program, where it is not the one that comes with the SDK. */
  program: string | undefined;
}

/** Who answers what it asks people. */
interface Answering {
  canUseTool: CanUseTool;
  onElicitation: OnElicitation;
}

interface News {
  message: [message: unknown];
  /** All that it has said last on its error output. */
  errorOutput: [output: string];
  /** The process has ended, asked to or not; told once. */
  gone: [error: unknown];
}

/** All that Claude Code finds in the folder and of the user: settings, CLAUDE.md, skills, agents, output styles. */
const asInTerminal: Options = { settingSources: ['user', 'project', 'local'] };

/**
 * Without it the model is not told how to work. Claude Code notes down the prompt of a conversation's first request and
 * goes on with that note, whatever it is started with later: a conversation that is resumed has it made anew, so that
 * one with a lesser prompt gets this one, too, and a change of what is added takes hold.
 */
const wholePrompt = { type: 'preset', preset: 'claude_code' } as const;

const startLimitMs = 60_000;
const interruptLimitMs = 500;
const endGraceMs = 1_500;
/** How long the reason for a failed start may take, after the start has failed. */
const reasonLimitMs = 1_000;

/** A running Claude Code with all that it starts. Nothing is told before whoever makes it can listen. */
export class ClaudeProcess extends EventEmitter<News> {
  readonly query: Query;
  readonly #mark = processMark();
  readonly #input = new InputQueue();
  readonly #gone = Promise.withResolvers<never>();
  readonly #program: ClaudeProgram;

  /** Throws when there is no program to start. */
  constructor(sdk: Sdk, options: ClaudeProcessOptions, { canUseTool, onElicitation }: Answering) {
    super();
    const { projectDir, agentSessionId, resume, config, env, mcpServers } = options;
    const { appendSystemPrompt: append, program } = options;
    this.#gone.promise.catch((error: unknown) => this.emit('gone', error));
    this.#program = new ClaudeProgram((output) => this.emit('errorOutput', output));
    this.query = sdk.query({
      prompt: this.#input,
      options: {
        ...startOptions(config, mayBypass(env)),
        ...(resume ? { resume: agentSessionId } : { sessionId: agentSessionId }),
        ...asInTerminal,
        ...(program !== undefined && { pathToClaudeCodeExecutable: program }),
        systemPrompt: {
          ...wholePrompt,
          ...(append && { append }),
          ...(resume && { snapshot: false }),
        },
        cwd: projectDir,
        env: childEnvironment(env, this.#mark.env),
        mcpServers,
        // On the command line everybody could read their keys.
        mcpServersDelivery: 'initialize',
        includePartialMessages: true,
        forwardSubagentText: true,
        canUseTool,
        onElicitation,
        spawnClaudeCodeProcess: this.#program.start,
      },
    });
    void this.#read();
    void this.#program.exited.then(() => this.#gone.reject(this.#program.ending));
  }

  /** Resolves when the process is ready for its first message, and tells what it offers. Rejects if it ends first. */
  async initialise(): Promise<SDKControlInitializeResponse> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error('It took longer than a minute.')),
      startLimitMs,
    );
    try {
      return await Promise.race([this.#initialised(), this.#gone.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  push(uuid: UUID, text: string): void {
    this.#input.push(uuid, text);
  }

  /** Why the process ended, with what it said about it. */
  explain(error: unknown): string {
    const reason = messageOf(error);
    const { errorOutput } = this.#program;
    return errorOutput === '' ? reason : `${reason} It said: ${errorOutput}`;
  }

  /** Ends it and all it has started. A turn that runs is interrupted first, so that what was said is written down. */
  async end(isBusy: boolean): Promise<void> {
    if (isBusy) {
      const limit = new Promise((resolve) => setTimeout(resolve, interruptLimitMs));
      await Promise.race([this.query.interrupt().catch(() => undefined), limit]);
    }
    this.#input.end();
    this.query.close();
    const { pid } = this.#program;
    const root = pid === undefined ? {} : { pid };
    await endTree({ mark: this.#mark.id, ...root }, { graceMs: endGraceMs });
  }

  async #initialised(): Promise<SDKControlInitializeResponse> {
    try {
      return await this.query.initializationResult();
    } catch (error) {
      // It may say no more than that nothing will come; then how the process ended says why.
      const limit = new Promise((resolve) => setTimeout(resolve, reasonLimitMs));
      await Promise.race([this.#gone.promise, limit]);
      throw error;
    }
  }

  async #read(): Promise<void> {
    let failure: unknown;
    try {
      for await (const message of this.query) {
        this.#program.heard();
        this.#take(message);
      }
    } catch (error) {
      failure = error;
    }
    // By then its error output has been read, too.
    await this.#program.closed();
    this.#gone.reject(failure ?? this.#program.ending);
  }

  /** A message that cannot be dealt with may be one that a turn waits for: whoever said it is given up, not waited for. */
  #take(message: unknown): void {
    try {
      this.emit('message', withinDepth(message));
    } catch (error) {
      const reason = messageOf(error);
      this.#gone.reject(new Error(`It said something that cannot be read (${reason}).`));
    }
  }
}
