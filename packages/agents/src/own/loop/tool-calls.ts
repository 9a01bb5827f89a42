import { type ApprovalOutcome, thrownMessage, type OutputItem } from '@liminal/protocol';
import { z } from 'zod';
import type { FairSemaphore } from '../../base/fair-semaphore.ts';
import type { PendingApprovals } from '../../base/pending-approvals.ts';
import type { TurnWriter } from '../../base/turn-writer.ts';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { Folders } from '../tools/project/project-path.ts';
import type { CallDescription, Permission, Tool, ToolResult } from '../tools/tool.ts';
import { ToolError } from '../tools/tool-error.ts';
import type { ToolDefinition } from './model-client.ts';
import type { Permissions } from './permissions.ts';
import {
  type CallResult,
  scriptDefinition,
  scriptInstructions,
  scriptName,
  scriptTool,
  type ScriptTurn,
} from './script-tool.ts';
import { outputOf, type WantedCall } from './waiting-calls.ts';

export interface ToolCallsOptions {
  tools: readonly Tool[];
  folders: Folders;
  /** Access to the files that the session's clients have open. */
  files?: ClientFiles | undefined;
  /** Whether a model may write a script instead of many calls. */
  runsScripts: boolean;
  /** Limits how many scripts run at the same time. */
  scripts: FairSemaphore;
  /** The session whose model makes the calls. */
  owner: object;
  approvals: PendingApprovals;
  permissions: Permissions;
}

interface Prepared {
  tool: Tool;
  input: unknown;
}

const allow = 'allow';
const always = 'always';
const refuse = 'refuse';

/** Runs the calls of a model. Each call, successful or not, ends with an output for the model. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** The descriptions of the tools that the model gets. */
  readonly definitions: readonly ToolDefinition[];
  /** The tools other than the script tool. */
  readonly #own: readonly ToolDefinition[];
  readonly #areInScripts: boolean;
  #instructions: string | undefined;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    const faces = options.tools.map(definitionOf);
    this.#areInScripts = options.runsScripts && faces.length > 0;
    this.#own = faces;
    this.definitions = this.#areInScripts ? [...faces, scriptDefinition(faces)] : faces;
  }

  /** The instructions that explain scripts to a model without tools; undefined if the model cannot use scripts. */
  get instructions(): string | undefined {
    if (this.#areInScripts) this.#instructions ??= scriptInstructions(this.#own);
    return this.#instructions;
  }

  /**
   * Runs a call, and writes its output with the value that `writer` has when the call ends. An error of the model or a
   * tool becomes the call's output; the promise does not reject.
   */
  async run(call: WantedCall, writer: () => TurnWriter, signal: AbortSignal): Promise<CallResult> {
    const outputId = outputOf(call.itemId);
    const output = emptyOutput(outputId, call);
    const end = (result: CallResult): CallResult => {
      const item = { ...output, ...result };
      const now = writer();
      if (now.isOpen(outputId)) now.done(outputId, item);
      else now.add(item);
      return { ...result, endedAt: now.time };
    };
    try {
      const prepared = this.#prepare(call, writer);
      const { folders, files } = this.#options;
      const face = await prepared.tool.describe(prepared.input, folders, files);
      const { kind } = prepared.tool;
      writer().done(call.itemId, call.item && ({ ...call.item, ...face, kind } as OutputItem));
      const refusal = await this.#refusal(prepared, call, face, signal);
      if (refusal !== undefined) return end({ output: refusal, success: false });
      signal.throwIfAborted();
      const print = (text: string): void => {
        if (!writer().isOpen(outputId)) writer().start(output);
        writer().append(outputId, text);
      };
      const result = await this.#run(prepared, print, signal);
      call.onAsked?.();
      const answer = end(fieldsOf(result));
      if (result.plan) {
        writer().add({ type: 'plan', id: `${call.itemId}:plan`, entries: result.plan });
      }
      return answer;
    } catch (error) {
      call.onAsked?.();
      writer().done(call.itemId, call.item);
      return end({ output: this.#problem(error, signal), success: false });
    }
  }

  /** Throws ToolError, with advice for the model, if the call is invalid. */
  #prepare(call: WantedCall, writer: () => TurnWriter): Prepared {
    const { name, arguments: text, problem } = call;
    if (problem !== undefined) throw new ToolError(problem);
    const tool = this.#toolOf(call, writer);
    if (tool === undefined) {
      const names = this.definitions.map((one) => one.name).join(', ');
      throw new ToolError(`There is no tool ${name}. The tools are: ${names}.`);
    }
    const parsed = tool.input.safeParse(parseArguments(text));
    if (parsed.success) return { tool, input: parsed.data };
    throw new ToolError(`The input is invalid. ${z.prettifyError(parsed.error)}`);
  }

  #toolOf(call: WantedCall, writer: () => TurnWriter): Tool | undefined {
    const { tools, runsScripts, scripts, owner } = this.#options;
    if (call.name !== scriptName || !runsScripts) {
      return tools.find((one) => one.name === call.name);
    }
    const run = async (one: WantedCall, within: AbortSignal) => this.run(one, writer, within);
    const turn: ScriptTurn = async (start, signal) =>
      scripts.run(owner, start, signal, call.onAsked);
    return scriptTool(call, { tools, writer, run, turn });
  }

  #run(
    { tool, input }: Prepared,
    print: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { folders, files, owner } = this.#options;
    return tool.run(input, { ...folders, files, owner, signal, print });
  }

  /**
   * Returns why the call must not run; undefined if the call may run. Asks people, unless the call is already allowed.
   */
  async #refusal(
    { tool, input }: Prepared,
    { callId, approvalId, script, onAsked, name, arguments: json }: WantedCall,
    face: CallDescription,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { approvals, permissions, folders } = this.#options;
    const needed = await tool.needs(input, folders);
    const isAllowed = needed === undefined || (await permissions.allow(tool.kind, needed));
    if (isAllowed) {
      // In a resumed script, the script's own calls ask people.
      if (script === undefined) onAsked?.();
      return undefined;
    }
    const { title } = face;
    const options = approvalOptions(needed, permissions.areStored);
    const words = { name, arguments: json, kind: tool.kind, ...face };
    const question = { title, callId, options, asked: words };
    const asked = approvals.ask(question, signal, approvalId);
    onAsked?.();
    const outcome = await asked;
    signal.throwIfAborted();
    if (chosen(outcome, always)) await permissions.grant(needed);
    if (chosen(outcome, always) || chosen(outcome, allow)) return undefined;
    if (outcome.outcome === 'cancelled') return 'This was not done: the question was withdrawn.';
    const { note } = outcome;
    return note === undefined
      ? 'The user refused this.'
      : `The user refused this, and says: ${note}`;
  }

  #problem(error: unknown, signal: AbortSignal): string {
    if (signal.aborted) return 'This was stopped by the user.';
    if (error instanceof ToolError) return error.message;
    return `The tool failed. ${thrownMessage(error)}`;
  }
}

function definitionOf({ name, description, input, parameters }: Tool): ToolDefinition {
  if (parameters !== undefined) return { name, description, parameters };
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return { name, description, parameters: schema };
}

function approvalOptions(needed: readonly Permission[], areStored: boolean) {
  const what = needed.map((one) => one.always).join(', ');
  const where = areStored ? 'this project' : 'this session';
  return [
    { optionId: allow, name: 'Allow', kind: 'allow_once' as const },
    { optionId: always, name: `Always allow ${what} in ${where}`, kind: 'allow_always' as const },
    { optionId: refuse, name: 'Reject', kind: 'reject_once' as const, takesNote: true },
  ];
}

function chosen(outcome: ApprovalOutcome, optionId: string): boolean {
  return outcome.outcome === 'selected' && outcome.optionId === optionId;
}

/** Returns the parsed arguments; an empty text is an empty object. Throws ToolError. */
function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ToolError(
      `The arguments are not JSON (${thrownMessage(error)}). Call the tool again.`,
    );
  }
}

function emptyOutput(
  id: string,
  { callId, item }: WantedCall,
): Extract<OutputItem, { type: 'function_call_output' }> {
  const within = item?.parentCallId === undefined ? {} : { parentCallId: item.parentCallId };
  const fields = { callId, output: '', success: false };
  return { type: 'function_call_output', id, ...fields, origin: 'tool_harness', ...within };
}

function fieldsOf({ output, success, blocks, diffs, exitCode }: ToolResult) {
  return {
    output,
    success,
    ...(blocks && { blocks }),
    ...(diffs && { diffs }),
    ...(exitCode !== undefined && { exitCode }),
  };
}
