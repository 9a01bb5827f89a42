import { EventEmitter } from 'node:events';
import type {
  CanUseTool,
  HookInput,
  HookJSONOutput,
  OnElicitation,
  Options,
  Query,
  SDKControlInitializeResponse,
  SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { type McpServers, thrownMessage, withinDepth } from '@liminal/protocol';
import { childEnvironment as plainEnvironment } from '../../base/child-environment.ts';
import { endTree, processMark } from '../../process/index.ts';
import { ClaudeProgram } from './claude-program.ts';
import { mayBypass, startOptions, type Config } from './config-options.ts';
import type { ProjectInUse } from './project-in-use.ts';
import type { ClaudeSdk } from './sdk.ts';
import { isPlainDelta } from './translate/native.ts';

export interface ClaudeProcessOptions {
  projectDir: string;
  /** Claude Code's own session id, a UUID. */
  agentSessionId: string;
  /** Whether Claude Code has stored the session. */
  resume: boolean;
  config: Config;
  env: NodeJS.ProcessEnv;
  mcpServers: McpServers;
  /** Text added to Claude Code's own system prompt. */
  appendSystemPrompt: string | undefined;
  /** The path of the program; undefined for the program that the SDK brings. */
  program: string | undefined;
  project: ProjectInUse;
}

/** The callbacks for Claude Code's questions to people. */
interface Answering {
  canUseTool: CanUseTool;
  onElicitation: OnElicitation;
}

interface ProcessEvents {
  message: [message: unknown];
  /** The newest error output. */
  errorOutput: [output: string];
  /** The process has ended, requested or not; emitted once. */
  gone: [error: unknown];
}

/** Options that match the behaviour of Claude Code's terminal, which differs from the SDK's defaults. */
const asInTerminal: Options = {
  /** Makes Claude Code send previews with the choices of a question. */
  toolConfig: { askUserQuestion: { previewFormat: 'markdown' } },
  enableFileCheckpointing: true,
  /** States that each background task can be stopped separately, so that tasks keep running after a turn ends. */
  perTaskStopAffordance: true,
  /** Makes Claude Code report what hooks refused and why hooks failed. */
  includeHookEvents: true,
};

/**
 * Returns the sources of settings, CLAUDE.md, skills, agents and output styles: the user's own, and the project's if
 * people have agreed to the project's. A running Claude Code reloads files that change; a hook blocks changes to which
 * people have not agreed.
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
      // Claude Code also finds skills in newly created folders, without reporting a change.
      PreToolUse: [{ matcher: 'Skill', hooks: [mayUseSkill] }],
      // A skill can also start without a call of the tool `Skill`: a message can name the skill, and a subagent can
      // start with the skill.
      PreSkillShellCommand: [{ hooks: [mayUseSkill] }],
    },
  };
}

const notAgreed =
  'The settings and skills of the project have changed, and the user has not agreed to them yet.';

/** The sources of settings outside the project. */
const ofUser: ReadonlySet<string> = new Set(['user_settings', 'policy_settings']);

/**
 * Without this prompt the model lacks Claude Code's instructions. Claude Code stores the prompt of a conversation's
 * first request and reuses this prompt, even if a later start passes another prompt. `snapshot: false` makes Claude
 * Code build the prompt anew for a resumed conversation, with the present additions.
 */
const wholePrompt = { type: 'preset', preset: 'claude_code' } as const;

const startLimitMs = 60_000;
const interruptLimitMs = 500;
const endGraceMs = 1_500;
/** How long to wait for the reason of a failed start, in ms. */
const reasonLimitMs = 1_000;

/**
 * A running Claude Code and all its descendants. Emits its first event only after the caller has had time to add
 * listeners.
 */
export class ClaudeProcess extends EventEmitter<ProcessEvents> {
  readonly query: Query;
  readonly #mark = processMark('claude-code');
  readonly #input = new InputQueue();
  readonly #gone = Promise.withResolvers<never>();
  readonly #program: ClaudeProgram;
  readonly #env: NodeJS.ProcessEnv;

  /** Throws if there is no program to start. */
  constructor(
    sdk: ClaudeSdk,
    options: ClaudeProcessOptions,
    { canUseTool, onElicitation }: Answering,
  ) {
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
        // On the command line, every user of the machine could read the servers' keys.
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

  /**
   * Resolves with the process's features when the process is ready for its first message. Rejects if the process ends
   * first.
   */
  async initialise(): Promise<SDKControlInitializeResponse> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new Error('The start took longer than a minute.')),
      startLimitMs,
    );
    try {
      return await Promise.race([this.#initialised(), this.#gone.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The environment for a user's command in the session. */
  get commandEnvironment(): NodeJS.ProcessEnv {
    return { ...childEnvironment(this.#env, {}), CLAUDECODE: '1' };
  }

  push(...message: Parameters<InputQueue['push']>): void {
    this.#input.push(...message);
  }

  /**
   * Withdraws a message from Claude Code's queue. Resolves to true if the queue had the message: Claude Code then
   * reports the message as cancelled and begins no turn for it. The SDK's types lack this request
   * (`cancel_async_message`).
   */
  async withdraw(uuid: string): Promise<boolean> {
    const request: unknown = Reflect.get(this.query, 'cancelAsyncMessage');
    if (typeof request !== 'function') return false;
    return (await Reflect.apply(request, this.query, [uuid])) === true;
  }

  /** Returns the reason with the process's error output. */
  explain(error: unknown): string {
    const reason = thrownMessage(error);
    const { errorOutput } = this.#program;
    return errorOutput === '' ? reason : `${reason} It said: ${errorOutput}`;
  }

  /** Ends the process and all its descendants. Interrupts a running turn first, so that its messages are stored. */
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
      // The SDK's error may only report that no answer will arrive. Wait for the end of the process, because the
      // process's end explains the reason.
      const limit = new Promise((resolve) => setTimeout(resolve, reasonLimitMs));
      await Promise.race([this.#gone.promise, limit]);
      throw error;
    }
  }

  async #read(): Promise<void> {
    let failure: unknown;
    try {
      for await (const message of this.query) {
        this.#program.noteMessage();
        this.#take(message);
      }
    } catch (error) {
      failure = error;
    }
    // Wait until the error output has been read.
    await this.#program.closed();
    this.#gone.reject(failure ?? this.#program.ending);
  }

  /** Emits a message. If a listener throws, ends the process, because a turn may wait for the message. */
  #take(message: unknown): void {
    try {
      this.emit('message', isPlainDelta(message) ? message : withinDepth(message));
    } catch (error) {
      const reason = thrownMessage(error);
      this.#gone.reject(new Error(`A message of Claude Code could not be handled (${reason}).`));
    }
  }
}

/**
 * Variables set by a Claude Code that runs this server; a child with them would consider itself a part of that program.
 */
const ofOuterClaude = new Set(['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT']);

/** Returns Claude Code's environment: the server's without Liminal's own variables, plus the process mark. */
function childEnvironment(
  inherited: NodeJS.ProcessEnv,
  mark: Record<string, string>,
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !ofOuterClaude.has(name));
  const own = { CLAUDE_AGENT_SDK_CLIENT_APP: 'liminal' };
  return plainEnvironment(Object.fromEntries(kept), own, mark);
}

/** Passes one session's user messages to the SDK, as one iterable that lasts as long as the process. */
class InputQueue implements AsyncIterable<SDKUserMessage> {
  readonly #messages: SDKUserMessage[] = [];
  #wake = Promise.withResolvers<void>();
  #isEnded = false;

  /**
   * `uuid` is the id with which Claude Code later refers to the message. With `priority: 'next'` the model reads the
   * message within the running turn, after the running tools (`now` would end the turn). With `shouldQuery: false` the
   * message begins no turn: the model reads the message together with the following message.
   */
  push(
    uuid: NonNullable<SDKUserMessage['uuid']>,
    content: SDKUserMessage['message']['content'],
    more: Pick<SDKUserMessage, 'priority' | 'shouldQuery' | 'client_composed'> = {},
  ): void {
    const message = { role: 'user' as const, content };
    this.#messages.push({ type: 'user', uuid, message, parent_tool_use_id: null, ...more });
    this.#wake.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    for (;;) {
      yield* this.#messages.splice(0);
      if (this.#isEnded) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
  }
}
