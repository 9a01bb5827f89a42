import type { TurnWriter } from '../../../base/turn-writer.ts';
import { isRecord } from './fields.ts';
import type { TerminalTexts } from './terminals.ts';
import type { AskedCallInfo } from '../../../base/pending-approvals.ts';
import { askedFromRequest, ToolCall, callIdOf, type Source } from './tool-call.ts';

export interface CallsOptions {
  writer: TurnWriter;
  terminals: TerminalTexts;
  /** Whether the updates are a replay. A replay announces calls as completed before their output. */
  isReplay: boolean;
}

/** How many calls may be open at once; if a further call begins, the oldest open call ends. */
const maxOpen = 1_000;

/** The tool calls of one turn. */
export class AcpCalls {
  readonly #options: CallsOptions;
  readonly #open = new Map<string, ToolCall>();
  readonly #ended = new Set<string>();
  readonly #failed = new Map<string, ToolCall>();
  #count = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /**
   * Returns whether an update begins a call, changes the call's state or ends the call; false if the update only adds
   * output.
   */
  isStateChange(callId: string, update: unknown): boolean {
    const call = this.#open.get(callId);
    return call === undefined || call.isChangedBy(update);
  }

  /** Returns the call with this id if it has failed and has not begun again. */
  failed(callId: string): ToolCall | undefined {
    return this.#failed.get(callId);
  }

  /**
   * Returns the call with the fields that a permission request describes; undefined if the request describes nothing.
   */
  asked(callId: string, request: unknown): AskedCallInfo | undefined {
    const call = this.#open.get(callId);
    return call === undefined ? askedFromRequest(request) : call.asked(request);
  }

  /** Returns whether this turn has the call. */
  has(callId: string): boolean {
    return this.#open.has(callId) || this.#ended.has(callId);
  }

  /** Returns whether the call has ended. */
  isOver(callId: string): boolean {
    return this.#ended.has(callId) && !this.#open.has(callId);
  }

  /** The ids of all calls of the turn. */
  get ids(): string[] {
    return [...this.#open.keys(), ...this.#ended];
  }

  /**
   * Reads a call or its update; a call that was never announced begins with its first update. If a subagent makes the
   * call, `parentCallId` is the call that began the subagent.
   */
  read(update: unknown, source: Source, parentCallId?: string): void {
    const callId = callIdOf(update);
    if (callId === undefined) return this.#options.writer.keep(update);
    const call = this.#open.get(callId) ?? this.#begin(callId, parentCallId);
    call.read(this.#options.writer.isFull ? statusOnly(update) : update, source);
    const isReportedLater = this.#options.isReplay && source === 'announcement';
    if (call.success !== undefined && !isReportedLater) this.#end(call, call.success);
  }

  terminalPrinted(terminalId: string, text: string): void {
    for (const call of this.#open.values()) {
      if (call.output.includesTerminal(terminalId)) call.output.grow(text);
    }
  }

  /** Ends the calls that the agent left open, so that no tool seems to run after its turn. */
  closeAll(reason: string): void {
    for (const call of this.#open.values()) {
      const success = call.success ?? false;
      this.#end(call, success, success ? '' : reason);
    }
  }

  #begin(callId: string, parentCallId: string | undefined): ToolCall {
    const { writer, terminals } = this.#options;
    const [oldest] = this.#open.values();
    if (oldest !== undefined && this.#open.size >= maxOpen) {
      this.#end(oldest, false, `More than ${maxOpen} calls were open at once.`);
    }
    const call = new ToolCall(callId, ++this.#count, writer, terminals, parentCallId);
    this.#open.set(callId, call);
    this.#failed.delete(callId);
    return call;
  }

  #end(call: ToolCall, success: boolean, reason?: string): void {
    this.#open.delete(call.callId);
    this.#ended.add(call.callId);
    if (!success) this.#failed.set(call.callId, call);
    call.end(success, reason);
  }
}

/** Returns the only part of an update that is still read when the turn has reached its size limit. */
function statusOnly(update: unknown): unknown {
  return isRecord(update) ? { status: update['status'] } : {};
}
