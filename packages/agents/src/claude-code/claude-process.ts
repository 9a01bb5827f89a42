import { EventEmitter } from 'node:events';
import type {
  CanUseTool,
  HookInput,
  HookJSONOutput,
  OnElicitation,
  Options,
  Query,
  SDKControlInitializeResponse,
} from '@anthropic-ai/claude-agent-sdk';
import { type McpServers, messageOf, withinDepth } from '@liminal/protocol';
import { childEnvironment as plainEnvironment } from '../base/child-environment.ts';
import { endTree, processMark } from '../process/index.ts';
import { ClaudeProgram } from './claude-program.ts';
import { mayBypass, startOptions, type Config } from './config-options.ts';
import { InputQueue } from './input-queue.ts';
import type { ProjectInUse } from './project-in-use.ts';
import type { Sdk } from './sdk.ts';

export interface ClaudeProcessOptions {
  projectDir: string;
  /** Claude Code's own session id, a UUID. */
  agentSessionId: string;
  /** Whether Claude Code has stored the session. */
  resume: boolean;
  config: Config;
  env: NodeJS.ProcessEnv;
  mcpServers: McpServers;
  /** Added to Claude Code's own system prompt. */
  appendSystemPrompt: string | undefined;
  /** The path of the program. Undefined: the SDK's own. */
  program: string | undefined;
  project: ProjectInUse;
}

/** Answers its questions to people. */
interface Answering {
  canUseTool: CanUseTool;
  onElicitation: OnElicitation;
}

interface News {
  message: [message: unknown];
  /** The newest error output. */
  errorOutput: [output: string];
  /** The process has ended, requested or not; emitted once. */
  gone: [error: unknown];
}

/** What a terminal has and the SDK leaves out. */
const asInTerminal: Options = {
  /** The choices of a question may have previews. */
  toolConfig: { askUserQuestion: { previewFormat: 'markdown' } },
  enableFileCheckpointing: true,
  /** Each background task can be stopped by itself, so the end of a turn leaves them running. */
  perTaskStopAffordance: true,
  /** What hooks have refused, and why they failed. */
  includeHookEvents: true,
};

/**
 * The sources of settings, CLAUDE.md, skills, agents and output styles: the user's own, and the project's if people have
 * agreed. Claude Code also reloads files that change while it runs: a hook blocks changes that nobody has agreed to.
 */
function settingsFrom(project: ProjectInUse): Options {
  if (!project.isUsed) return { settingSources: ['user'] };
  const mayChange = async (input: HookInput): Promise<HookJSONOutput> => {
    const isOfUser = input.hook_event_name !== 'ConfigChange' || ofUser.has(input.source);
    if (isOfUser || (await project.mayUseNow())) return {};
    return { decision: 'block', reason: notAgreed };
  };
  const mayUseSkill = async (input: HookInput): Promise<HookJSONOutput> => {
    const { hook_event_name: hookEventName } = input;
    if (hookEventName !== 'PreToolUse' && hookEventName !== 'PreSkillShellCommand') return {};
    if (await project.mayUseNow()) return {};
    const deny = { permissionDecision: 'deny', permissionDecisionReason: notAgreed } as const;
    return { hookSpecificOutput: { hookEventName, ...deny } };
  };
  return {
    settingSources: ['user', 'project', 'local'],
    hooks: {
      ConfigChange: [{ hooks: [mayChange] }],
      // Claude Code also finds skills in folders that have just been made, and notices no change of those.
      PreToolUse: [{ matcher: 'Skill', hooks: [mayUseSkill] }],
      // A message can name a skill, and a subagent can begin with one: both without a call of that tool.
      PreSkillShellCommand: [{ hooks: [mayUseSkill] }],
    },
  };
}

const notAgreed =
  'The settings and skills of the project have changed, and the user has not agreed to them yet.';

/** Sources of settings that are not the project's. */
const ofUser: ReadonlySet<string> = new Set(['user_settings', 'policy_settings']);

/**
 * Without this prompt the model is not told how to work. Claude Code stores the prompt of a conversation's first
 * request and reuses it, whatever later starts say. So a resumed conversation has it made again: it then gets the whole
 * prompt and the present additions.
 */
const wholePrompt = { type: 'preset', preset: 'claude_code' } as const;

const startLimitMs = 60_000;
const interruptLimitMs = 500;
const endGraceMs = 1_500;
/** How long to wait for the reason of a failed start. */
const reasonLimitMs = 1_000;

/** A running Claude Code with all that it starts. Emits nothing before the caller can add listeners. */
export class ClaudeProcess extends EventEmitter<News> {
  readonly query: Query;
  readonly #mark = processMark('claude-code');
  readonly #input = new InputQueue();
  readonly #gone = Promise.withResolvers<never>();
  readonly #program: ClaudeProgram;
  readonly #env: NodeJS.ProcessEnv;

  /** Throws if there is no program to start. */
  constructor(sdk: Sdk, options: ClaudeProcessOptions, { canUseTool, onElicitation }: Answering) {
    super();
    const { projectDir, agentSessionId, resume, config, env, mcpServers } = options;
    const { appendSystemPrompt: append, program } = options;
    this.#env = env;
    this.#gone.promise.catch((error: unknown) => this.emit('gone', error));
    this.#program = new ClaudeProgram((output) => this.emit('errorOutput', output));
    this.query = sdk.query({
      prompt: this.#input,
      options: {
        ...startOptions(config, mayBypass(env)),
        ...(resume ? { resume: agentSessionId } : { sessionId: agentSessionId }),
        ...asInTerminal,
        ...settingsFrom(options.project),
        ...(program !== undefined && { pathToClaudeCodeExecutable: program }),
        systemPrompt: {
          ...wholePrompt,
          ...(append && { append }),
          ...(resume && { snapshot: false }),
        },
        cwd: projectDir,
        env: childEnvironment(env, this.#mark.env),
        mcpServers,
        // On the command line every user could read their keys.
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

  /** Resolves with what the process offers when it is ready for its first message. Rejects if it ends first. */
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

  /** The environment of a command that a person runs in the session. */
  get commandEnvironment(): NodeJS.ProcessEnv {
    return { ...childEnvironment(this.#env, {}), CLAUDECODE: '1' };
  }

  push(...message: Parameters<InputQueue['push']>): void {
    this.#input.push(...message);
  }

  /**
   * Withdraws a message that waits in its queue. Returns whether it was there: then it is reported as cancelled, and begins
   * no turn. The SDK's types lack this request (`cancel_async_message`).
   */
  async withdraw(uuid: string): Promise<boolean> {
    const request: unknown = Reflect.get(this.query, 'cancelAsyncMessage');
    if (typeof request !== 'function') return false;
    return (await Reflect.apply(request, this.query, [uuid])) === true;
  }

  /** Why the process ended, with its own words about it. */
  explain(error: unknown): string {
    const reason = messageOf(error);
    const { errorOutput } = this.#program;
    return errorOutput === '' ? reason : `${reason} It said: ${errorOutput}`;
  }

  /** Ends it and all that it started. A running turn is interrupted first, so that what was said is stored. */
  async end(isBusy: boolean): Promise<void> {
    if (isBusy) {
      const limit = new Promise((resolve) => setTimeout(resolve, interruptLimitMs));
      await Promise.race([this.query.interrupt().catch(() => undefined), limit]);
    }
    this.#input.end();
    this.query.close();
    await endTree({ mark: this.#mark.id, child: this.#program.child }, { graceMs: endGraceMs });
  }

  async #initialised(): Promise<SDKControlInitializeResponse> {
    try {
      return await this.query.initializationResult();
    } catch (error) {
      // The error may say only that no answer will come; the end of the process says why.
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
    // By then the error output has been read, too.
    await this.#program.closed();
    this.#gone.reject(failure ?? this.#program.ending);
  }

  /** A turn may wait for a message that cannot be handled: so the process is given up. */
  #take(message: unknown): void {
    try {
      this.emit('message', withinDepth(message));
    } catch (error) {
      const reason = messageOf(error);
      this.#gone.reject(new Error(`It said something that cannot be read (${reason}).`));
    }
  }
}

/** Set by a Claude Code that runs this server; a child that saw them would take itself for a part of it. */
const ofOuterClaude = new Set(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT']);

/** Claude Code's environment: the server's without Liminal's own variables, plus the process mark. */
function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !ofOuterClaude.has(name));
  const own = { CLAUDE_AGENT_SDK_CLIENT_APP: 'liminal' };
  return plainEnvironment(Object.fromEntries(kept), own, mark);
}
