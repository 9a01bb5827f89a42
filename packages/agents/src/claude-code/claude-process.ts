import type { UUID } from 'node:crypto';
import type {
  CanUseTool,
  Query,
  SDKControlInitializeResponse,
} from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import type { McpServers } from '../mcp-servers.ts';
import { endTree, processMark } from '../process/index.ts';
import { childEnvironment } from './child-environment.ts';
import { startOptions, type Config } from './config-options.ts';
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
}

export interface ClaudeProcessEvents {
  canUseTool: CanUseTool;
  onMessage: (message: unknown) => void;
  /** The process has ended, asked to or not; called once. */
  onGone: (error: unknown) => void;
}

const startLimitMs = 60_000;
const interruptLimitMs = 500;
const endGraceMs = 1_500;
/** Characters of its error output that are kept to explain its end. */
const keptOutput = 2_000;

/** Present in the answer to `initialize`, though not in the SDK's types. */
const Initialised = z.looseObject({ pid: z.number().optional() });

/** A running Claude Code with all that it starts. */
export class ClaudeProcess {
  readonly query: Query;
  readonly #mark = processMark();
  readonly #input = new InputQueue();
  readonly #gone = Promise.withResolvers<never>();
  /** Absent until `initialise`, and where Claude Code does not tell. */
  #pid: number | undefined;
  #errorOutput = '';

  constructor(
    sdk: Sdk,
    options: ClaudeProcessOptions,
    { canUseTool, onMessage, onGone }: ClaudeProcessEvents,
  ) {
    const { projectDir, agentSessionId, resume, config, env, mcpServers } = options;
    this.#gone.promise.catch(onGone);
    this.query = sdk.query({
      prompt: this.#input,
      options: {
        ...startOptions(config),
        ...(resume ? { resume: agentSessionId } : { sessionId: agentSessionId }),
        cwd: projectDir,
        env: childEnvironment(env, this.#mark.env),
        mcpServers,
        includePartialMessages: true,
        forwardSubagentText: true,
        canUseTool,
        stderr: (output) => {
          this.#errorOutput = (this.#errorOutput + output).slice(-keptOutput);
        },
      },
    });
    void this.#read(onMessage);
  }

  /** Resolves when the process is ready for its first message, and tells what it offers. Rejects if it ends first. */
  async initialise(): Promise<SDKControlInitializeResponse> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error('It took longer than a minute.')),
      startLimitMs,
    );
    try {
      const ready = this.query.initializationResult();
      const initialised = await Promise.race([ready, this.#gone.promise, late]);
      this.#pid = Initialised.parse(initialised).pid;
      return initialised;
    } finally {
      clearTimeout(timer);
    }
  }

  push(uuid: UUID, text: string): void {
    this.#input.push(uuid, text);
  }

  /** Why the process ended, with what it said about it. */
  explain(error: unknown): string {
    const reason = error instanceof Error ? error.message : String(error);
    const output = this.#errorOutput.trim();
    return output === '' ? reason : `${reason} It said: ${output}`;
  }

  /** Ends it and all it has started. A turn that runs is interrupted first, so that what was said is written down. */
  async end(isBusy: boolean): Promise<void> {
    if (isBusy) {
      const limit = new Promise((resolve) => setTimeout(resolve, interruptLimitMs));
      await Promise.race([this.query.interrupt().catch(() => undefined), limit]);
    }
    this.#input.end();
    this.query.close();
    const root = this.#pid === undefined ? {} : { pid: this.#pid };
    await endTree({ mark: this.#mark.id, ...root }, { graceMs: endGraceMs });
  }

  async #read(onMessage: (message: unknown) => void): Promise<void> {
    try {
      for await (const message of this.query) onMessage(message);
      this.#gone.reject(new Error('It exited.'));
    } catch (error) {
      this.#gone.reject(error);
    }
  }
}
