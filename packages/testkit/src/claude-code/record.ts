import { randomUUID } from 'node:crypto';
import {
  query,
  type Options,
  type Query,
  type SDKMessage,
  type SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import { startMessagesApi } from '../messages-api/server.ts';
import { gate, type Gate } from '../scripted-server/gate.ts';
import type { Script } from '../messages-api/script.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';
import { claudeEnvironment } from './environment.ts';
import { normaliseClaude } from './normalise.ts';
import type { ClaudeRecording, HostAction, RecordedEntry } from './recording.ts';

/** A case to record: the model's answers, and the host's actions. */
export interface RecordedCase {
  name: string;
  about: string;
  /** Files in the project folder. */
  files?: Record<string, string>;
  /**
   * The model's answers. The script depends on the workspace, because tools need the absolute paths of files. `gate` is
   * the host's gate.
   */
  script: (workspace: Workspace, gate: Gate) => Script;
  options?: Partial<Options>;
  env?: Record<string, string>;
  /** Whether a permission request is allowed. Default: yes. */
  permit?: (toolName: string, host: Host) => Promise<boolean> | boolean;
  run(host: Host): Promise<void>;
}

/** The actions that a case performs on the running Claude Code. */
export interface Host {
  /** The gate in the script, which the host opens. */
  readonly gate: Gate;
  /** Sends a user message, and returns without waiting for the answer. */
  send(text: string): void;
  /** Resolves with the next message that `matches` and that no earlier call has returned. */
  until(matches: (message: SDKMessage) => boolean): Promise<SDKMessage>;
  /** Resolves when the next turn has ended. */
  result(): Promise<SDKMessage>;
  interrupt(): Promise<void>;
}

/** Plays a case with the real Claude Code, and returns the normalised recording. */
export async function recordClaude(recordedCase: RecordedCase): Promise<ClaudeRecording> {
  const workspace = await makeWorkspace(recordedCase.files);
  const held = gate();
  const api = await startMessagesApi({ script: recordedCase.script(workspace, held) });
  const session = new RecordedSession(recordedCase, held, workspace, api.url);
  try {
    await recordedCase.run(session);
    const { claude_code_version: claudeCode } = await session.query.initializationResult();
    return {
      name: recordedCase.name,
      about: recordedCase.about,
      claudeCode: claudeCode ?? 'unknown',
      entries: normaliseClaude(untilLastResult(session.entries), workspace, api.url),
    };
  } finally {
    session.close();
    await api.close();
    await workspace.remove();
  }
}

/** Leaves out the messages after the last turn, because they depend on the moment at which the process is closed. */
function untilLastResult(entries: RecordedEntry[]): RecordedEntry[] {
  const last = entries.findLastIndex((entry) => 'sdk' in entry && entry.sdk.type === 'result');
  return entries.slice(0, last + 1);
}

class RecordedSession implements Host {
  readonly entries: RecordedEntry[] = [];
  readonly query: Query;
  readonly gate: Gate;
  readonly #prompts = new TransformStream<SDKUserMessage, SDKUserMessage>();
  readonly #writer = this.#prompts.writable.getWriter();
  readonly #seen: SDKMessage[] = [];
  #next = 0;
  #wake = Promise.withResolvers<void>();

  constructor(recordedCase: RecordedCase, held: Gate, workspace: Workspace, apiUrl: string) {
    this.gate = held;
    this.query = query({
      prompt: this.#prompts.readable,
      options: {
        cwd: workspace.projectDir,
        env: { ...claudeEnvironment(workspace.home, apiUrl), ...recordedCase.env },
        includePartialMessages: true,
        forwardSubagentText: true,
        permissionMode: 'default',
        sessionId: randomUUID(),
        canUseTool: async (toolName, input, { toolUseID }) => {
          const allowed = (await recordedCase.permit?.(toolName, this)) ?? true;
          this.#note({ action: 'permission', toolName, toolUseId: toolUseID, allowed });
          return allowed
            ? { behavior: 'allow', updatedInput: input }
            : { behavior: 'deny', message: 'The user refused.' };
        },
        ...recordedCase.options,
      },
    });
    void this.#read();
  }

  send(text: string): void {
    const uuid = randomUUID();
    this.#note({ action: 'send', uuid, text });
    void this.#writer.write({
      type: 'user',
      uuid,
      message: { role: 'user', content: text },
      parent_tool_use_id: null,
    });
  }

  async until(matches: (message: SDKMessage) => boolean): Promise<SDKMessage> {
    for (;;) {
      const message = this.#seen[this.#next];
      if (message === undefined) await this.#wake.promise;
      else {
        this.#next += 1;
        if (matches(message)) return message;
      }
    }
  }

  result(): Promise<SDKMessage> {
    return this.until((message) => message.type === 'result');
  }

  async interrupt(): Promise<void> {
    this.#note({ action: 'interrupt' });
    await this.query.interrupt();
  }

  close(): void {
    this.query.close();
  }

  #note(host: HostAction): void {
    this.entries.push({ host });
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.query) {
        this.entries.push({ sdk: structuredClone(message) });
        this.#seen.push(message);
        this.#notify();
      }
    } finally {
      this.#notify();
    }
  }

  #notify(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}
