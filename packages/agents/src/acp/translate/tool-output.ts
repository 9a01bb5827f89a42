import { type ContentBlock, cutText, maxItemSize } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readRawOutput, restOfRawOutput } from './raw-output.ts';
import type { TerminalExit, TerminalTexts } from './terminals.ts';
import type { OutputPart } from './tool-content.ts';

/**
 * The output of one tool call. Each update repeats all of it, so the news is what it has grown by; output that changed
 * instead of growing begins again.
 */
export class ToolOutput {
  /** The newest raw output from the agent. */
  rawOutput: unknown;
  /** The call shows its result as diffs. */
  hasDiffs = false;
  readonly #callId: string;
  readonly #writer: TurnWriter;
  readonly #terminals: TerminalTexts;
  readonly #base: string;
  #beginnings = 1;
  #parts: OutputPart[] = [];
  #blocks: ContentBlock[] = [];
  #isSaidByTool = false;
  #shownBlocks = '[]';

  constructor(callId: string, place: number, writer: TurnWriter, terminals: TerminalTexts) {
    this.#callId = callId;
    this.#writer = writer;
    this.#terminals = terminals;
    this.#base = `${writer.turnId}:output:${place}`;
  }

  /** `isSaidByTool` marks output; a description of the call is shown only if there is no output. */
  replace(parts: OutputPart[], blocks: ContentBlock[], isSaidByTool: boolean): void {
    this.#parts = parts;
    this.#blocks = blocks;
    this.#isSaidByTool = isSaidByTool;
  }

  /** Whether it holds output rather than a description of the call. */
  get isSaidByTool(): boolean {
    return this.#isSaidByTool && (this.#parts.length > 0 || this.#blocks.length > 0);
  }

  /** Streams output as if from a terminal of ours, which need not have been shown before. */
  stream(terminalId: string, text: string, exit: TerminalExit | undefined): void {
    if (!this.shows(terminalId)) this.#parts = [...this.#parts, { terminalId }];
    this.#terminals.print(terminalId, text);
    if (exit !== undefined) this.#terminals.exit(terminalId, exit);
    this.grow(text);
  }

  shows(terminalId: string): boolean {
    return this.#parts.some((part) => 'terminalId' in part && part.terminalId === terminalId);
  }

  /** A terminal in it has printed: if it is the only part, the output grows by that. */
  grow(text: string): void {
    const isAll = this.#parts.length === 1 && this.#writer.isOpen(this.#itemId);
    if (isAll) this.#writer.append(this.#itemId, text);
    else this.show();
  }

  /** Shows what is new. */
  show(): void {
    const text = this.#composed(this.#isSaidByTool) || this.#rawText();
    const blocks = this.#isSaidByTool ? this.#blocks : [];
    if (text !== '') this.#say(text);
    if (JSON.stringify(blocks) === this.#shownBlocks) return;
    this.#begin();
    this.#shownBlocks = JSON.stringify(blocks);
    this.#writer.patch(this.#itemId, { blocks });
  }

  /** `reason` replaces a missing output. */
  end(success: boolean, reason: string): void {
    const described = this.#composed(true);
    const output = this.#final(success) || reason || described;
    const exitCode = readRawOutput(this.rawOutput).exitCode ?? this.#exit()?.exitCode;
    const rest = restOfRawOutput(this.rawOutput, output);
    const isUnsaid = !this.#isSaidByTool && described !== '' && described !== output;
    const raw = isUnsaid ? { description: described, ...(rest !== undefined && { rest }) } : rest;
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
    const said = this.#composed(this.#isSaidByTool);
    const raw = readRawOutput(this.rawOutput);
    // A stream of printed output may have been cut short.
    if (said !== '') return raw.isPrinted && raw.text.length >= said.length ? raw.text : said;
    return success ? this.#rawText() : raw.text;
  }

  /** JSON for programs is shown only if there is nothing for people, or if the call failed: it may have the reason. */
  #rawText(): string {
    const { text, isJson, exitCode } = readRawOutput(this.rawOutput);
    // A command that printed nothing has its exit code.
    const isSaid = this.#isSaidByTool && (this.#blocks.length > 0 || exitCode !== undefined);
    const isShownOtherwise = this.hasDiffs || isSaid;
    return isJson && isShownOtherwise ? '' : text;
  }

  /** Terminals always count as output; texts only with `withTexts`. */
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

  #say(told: string): void {
    // Only up to the limit: repetitions beyond that are nothing new.
    const text = told.length > maxItemSize ? cutText(told, maxItemSize) : told;
    const item = this.#writer.item(this.#itemId);
    const said = item?.type === 'function_call_output' ? item.output : '';
    if (!text.startsWith(said)) {
      this.#writer.withdraw(this.#itemId, 'replaced');
      this.#beginnings++;
      this.#shownBlocks = '[]';
    }
    this.#begin();
    this.#writer.append(this.#itemId, text.startsWith(said) ? text.slice(said.length) : text);
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
