import { type ContentBlock, cutText, maxItemSize } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readRawOutput, restOfRawOutput } from './raw-output.ts';
import type { TerminalExit, TerminalTexts } from './terminals.ts';
import type { OutputPart } from './tool-content.ts';

/**
 * The output of one tool call. Each update contains the whole output, so only the new part is appended. If the earlier
 * part has changed, the output begins again as a new item.
 */
export class ToolOutput {
  /** The newest raw output from the agent. */
  rawOutput: unknown;
  /** Whether the call shows its result as diffs. */
  hasDiffs = false;
  readonly #callId: string;
  readonly #writer: TurnWriter;
  readonly #terminals: TerminalTexts;
  readonly #base: string;
  #beginnings = 1;
  #parts: OutputPart[] = [];
  #blocks: ContentBlock[] = [];
  #isFromTool = false;
  #shownBlocks = '[]';

  constructor(callId: string, place: number, writer: TurnWriter, terminals: TerminalTexts) {
    this.#callId = callId;
    this.#writer = writer;
    this.#terminals = terminals;
    this.#base = `${writer.turnId}:output:${place}`;
  }

  /**
   * Replaces the output. If `isFromTool` is false, the content describes the call, and is shown only if the tool has no
   * output.
   */
  replace(parts: OutputPart[], blocks: ContentBlock[], isFromTool: boolean): void {
    this.#parts = parts;
    this.#blocks = blocks;
    this.#isFromTool = isFromTool;
  }

  /** Whether the content is output rather than a description of the call. */
  get isFromTool(): boolean {
    return this.#isFromTool && (this.#parts.length > 0 || this.#blocks.length > 0);
  }

  /** Adds output that the agent streams for one of its own terminals; the call need not refer to the terminal yet. */
  stream(terminalId: string, text: string, exit: TerminalExit | undefined): void {
    if (!this.includesTerminal(terminalId)) this.#parts = [...this.#parts, { terminalId }];
    this.#terminals.print(terminalId, text);
    if (exit !== undefined) this.#terminals.exit(terminalId, exit);
    this.grow(text);
  }

  includesTerminal(terminalId: string): boolean {
    return this.#parts.some((part) => 'terminalId' in part && part.terminalId === terminalId);
  }

  /**
   * Called when a terminal of the output has printed `text`. If the terminal is the only part of the output, appends
   * the text; otherwise shows the new part of the joined output.
   */
  grow(text: string): void {
    const isAll = this.#parts.length === 1 && this.#writer.isOpen(this.#itemId);
    if (isAll) this.#writer.append(this.#itemId, text);
    else this.show();
  }

  /** Shows the new part of the output. */
  show(): void {
    const text = this.#composed(this.#isFromTool) || this.#rawText();
    const blocks = this.#isFromTool ? this.#blocks : [];
    if (text !== '') this.#writeOutput(text);
    if (JSON.stringify(blocks) === this.#shownBlocks) return;
    this.#begin();
    this.#shownBlocks = JSON.stringify(blocks);
    this.#writer.patch(this.#itemId, { blocks });
  }

  /** Ends the output. If the call has no output, the output is `reason`. */
  end(success: boolean, reason: string): void {
    const described = this.#composed(true);
    const output = this.#final(success) || reason || described;
    const exitCode = readRawOutput(this.rawOutput).exitCode ?? this.#exit()?.exitCode;
    const rest = restOfRawOutput(this.rawOutput, output);
    const isUnshown = !this.#isFromTool && described !== '' && described !== output;
    const raw = isUnshown ? { description: described, ...(rest !== undefined && { rest }) } : rest;
    this.#begin();
    this.#writer.done(this.#itemId, {
      type: 'function_call_output',
      id: this.#itemId,
      callId: this.#callId,
      output,
      success,
      origin: 'tool_harness',
      ...(this.#blocks.length > 0 && { blocks: this.#blocks }),
      ...(exitCode != null && Number.isInteger(exitCode) && { exitCode }),
      ...(raw !== undefined && { raw }),
    });
    for (const part of this.#parts)
      if ('terminalId' in part) this.#terminals.forget(part.terminalId);
  }

  get #itemId(): string {
    return this.#beginnings === 1 ? this.#base : `${this.#base}:${this.#beginnings}`;
  }

  #final(success: boolean): string {
    const composed = this.#composed(this.#isFromTool);
    const raw = readRawOutput(this.rawOutput);
    // Prefer the raw output if it is longer than the streamed text: the agent may have streamed only a part.
    if (composed !== '')
      return raw.isPrinted && raw.text.length >= composed.length ? raw.text : composed;
    // After a failure, show the raw output even if it is JSON, because it may contain the reason.
    return success ? this.#rawText() : raw.text;
  }

  /** Returns the raw output's text; empty if it is JSON and the call shows something else. */
  #rawText(): string {
    const { text, isJson, exitCode } = readRawOutput(this.rawOutput);
    // If a command printed nothing, its exit code counts as its output.
    const hasToolOutput = this.#isFromTool && (this.#blocks.length > 0 || exitCode !== undefined);
    const isShownOtherwise = this.hasDiffs || hasToolOutput;
    return isJson && isShownOtherwise ? '' : text;
  }

  /** Joins the parts: terminals always, texts only with `withTexts`. */
  #composed(withTexts: boolean): string {
    const texts = this.#parts.map((part) => {
      if ('terminalId' in part) return this.#terminals.text(part.terminalId);
      return withTexts ? part.text : '';
    });
    return texts.filter((text) => text !== '').join('\n');
  }

  #exit(): TerminalExit | undefined {
    for (const part of this.#parts) {
      const exit = 'terminalId' in part ? this.#terminals.exitOf(part.terminalId) : undefined;
      if (exit !== undefined) return exit;
    }
    return undefined;
  }

  #writeOutput(output: string): void {
    // Cut the text to the item's limit now, so that the next update's output begins with exactly the shown text.
    const text = output.length > maxItemSize ? cutText(output, maxItemSize) : output;
    const item = this.#writer.item(this.#itemId);
    const written = item?.type === 'function_call_output' ? item.output : '';
    if (!text.startsWith(written)) {
      this.#writer.withdraw(this.#itemId, 'replaced');
      this.#beginnings++;
      this.#shownBlocks = '[]';
    }
    this.#begin();
    this.#writer.append(this.#itemId, text.startsWith(written) ? text.slice(written.length) : text);
  }

  #begin(): void {
    if (this.#writer.isOpen(this.#itemId)) return;
    this.#writer.start({
      type: 'function_call_output',
      id: this.#itemId,
      callId: this.#callId,
      output: '',
      success: true,
      origin: 'tool_harness',
    });
  }
}
