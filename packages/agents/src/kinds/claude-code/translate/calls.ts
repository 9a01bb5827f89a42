import { z } from 'zod';
import type { OutputItem } from '@liminal/protocol';
import type { NativeBlock } from './native.ts';
import { isPlanTool, type ClaudePlan } from './plan.ts';
import { describeTool } from './describe-tool.ts';
import { readToolResult, type ToolResult } from './tool-results.ts';
import { toJson } from '../../../base/few-values.ts';
import type { TurnWriter } from '../../../base/turn-writer.ts';

interface OpenCall {
  itemId: string;
  name: string;
  parentCallId: string | undefined;
  /** Whether the call updates the to-do list. The list is shown as the turn's plan, and its calls are not shown. */
  isPlan: boolean;
  /** The call's item. Set only for a call that is shown only after a failure. */
  unshown?: OutputItem;
}

const CallInput = z.record(z.string(), z.unknown());

/** Returns a call's input and its JSON. An input with too many values arrives only as JSON (`ProgramOutput`). */
function readInput(given: unknown): { input: Record<string, unknown>; json: string } {
  const input = CallInput.safeParse(given).data ?? {};
  return { input, json: toJson(given ?? {}) };
}

/** The tool calls of one turn. Each call is an item; its output is matched by call id. */
export class ClaudeCalls {
  readonly #writer: TurnWriter;
  readonly #cwd: string;
  readonly #plan: ClaudePlan;
  readonly #waiting = new Map<string, OpenCall>();

  constructor(writer: TurnWriter, cwd: string, plan: ClaudePlan) {
    this.#writer = writer;
    this.#cwd = cwd;
    this.#plan = plan;
  }

  /** Returns whether the call was made in this turn and has no result yet. */
  isWaiting(callId: string): boolean {
    return this.#waiting.has(callId);
  }

  /** Begins a call whose arguments will follow. */
  begin(itemId: string, block: NativeBlock): void {
    const call = this.#note(itemId, block, undefined);
    const item = this.#item(call, block, {}, '');
    if (call.isPlan) call.unshown = item;
    else this.#writer.start(item);
  }

  /** Completes the call's arguments, and begins the call if necessary. */
  complete(itemId: string, block: NativeBlock, parentCallId?: string): void {
    const call = this.#note(itemId, block, parentCallId);
    const { input, json } = readInput(block.input);
    const item = this.#item(call, block, input, json);
    if (call.isPlan) {
      call.unshown = item;
      return this.#showPlan(this.#plan.call(call.name, input));
    }
    if (this.#writer.isOpen(itemId)) this.#writer.done(itemId, item);
    else this.#writer.add(item);
  }

  /** Withdraws a call that the model began and abandoned. */
  abandon(itemId: string, callId: string): void {
    this.#waiting.delete(callId);
    this.#writer.cancel(itemId, 'retried');
  }

  /** Adds a call's result, even if the call is unknown (TC-3.3g). */
  answer(result: ToolResult, parentCallId: string | undefined): void {
    const call = this.#waiting.get(result.callId);
    this.#waiting.delete(result.callId);
    if (call?.isPlan === true && !result.isError) {
      const { content, structured } = result;
      return this.#showPlan(this.#plan.answer(call.name, content, structured));
    }
    // Show a failed call, too: without the call, the failure would look like the result of an unknown tool.
    if (call?.unshown !== undefined) this.#writer.add(call.unshown);
    const parent = call?.parentCallId ?? parentCallId;
    this.#writer.add({
      type: 'function_call_output',
      id: `${this.#writer.turnId}:output:${result.callId}`,
      callId: result.callId,
      origin: 'tool_harness',
      ...(parent === undefined ? {} : { parentCallId: parent }),
      ...readToolResult(call?.name, result),
    });
  }

  /** Ends all open calls with an error output, so that no tool seems to run after its turn. */
  closeAll(reason: string): void {
    for (const [callId, { itemId }] of this.#waiting) {
      this.#writer.done(itemId, this.#settled(itemId));
      this.answer({ callId, content: reason, isError: true }, undefined);
    }
  }

  /**
   * Returns the call's item. If the arguments are incomplete, they are not JSON: they are kept as `raw`, and the item's
   * arguments are empty.
   */
  #settled(itemId: string): OutputItem | undefined {
    const item = this.#writer.item(itemId);
    if (item?.type !== 'function_call') return item;
    return { ...item, arguments: '{}', raw: { partialArguments: item.arguments } };
  }

  #note(itemId: string, block: NativeBlock, parentCallId: string | undefined): OpenCall {
    const name = block.name ?? block.type;
    // Only the main agent's to-do list is the turn's plan, not a subagent's.
    const isPlan = parentCallId === undefined && isPlanTool(name);
    const call: OpenCall = { itemId, name, parentCallId, isPlan };
    this.#waiting.set(block.id ?? itemId, call);
    return call;
  }

  #item(
    call: OpenCall,
    block: NativeBlock,
    input: Record<string, unknown>,
    json: string,
  ): OutputItem {
    const { itemId, name, parentCallId } = call;
    return {
      type: 'function_call',
      id: itemId,
      name,
      callId: block.id ?? itemId,
      arguments: json,
      origin: 'agent',
      ...(parentCallId === undefined ? {} : { parentCallId }),
      ...describeTool(name, input, this.#cwd),
    };
  }

  #showPlan(hasChanged: boolean): void {
    if (!hasChanged) return;
    const id = `${this.#writer.turnId}:plan`;
    if (!this.#writer.isOpen(id)) this.#writer.start({ type: 'plan', id, entries: [] });
    this.#writer.patch(id, { entries: this.#plan.entries });
  }
}
