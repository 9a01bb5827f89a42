import { type ContentBlock, cutText, maxItemSize } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readRawOutput, restOfRawOutput } from './raw-output.ts';
import type { TerminalExit, TerminalTexts } from './terminals.ts';
import type { OutputPart } from './tool-content.ts';

/**
 * What one tool call puts out. Each update tells all of it again, so what is new is what it has grown by; output that
 * did not grow but changed is begun anew.
 */
export class ToolOutput {
  /** As the agent told it last. */
  rawOutput: unknown;
  /** What the tool did shows with the call, as diffs. */
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

  /** `isSaidByTool` tells output from a description of the call, which shows only where there is no output. */
  replace(parts: OutputPart[], blocks: ContentBlock[], isSaidByTool: boolean): void {
    this.#parts = parts;
    this.#blocks = blocks;
    this.#isSaidByTool = isSaidByTool;
  }

  /** Whether it holds output rather than a description of the call. */
  get isSaidByTool(): boolean {
    return this.#isSaidByTool && (this.#parts.length > 0 || this.#blocks.length > 0);
  }

  /** Output as if of a terminal of ours, which need not have been shown before. */
  stream(terminalId: string, text: string, exit: TerminalExit | undefined): void {
    if (!this.shows(terminalId)) this.#parts = [...this.#parts, { terminalId }];
    this.#terminals.print(terminalId, text);
    if (exit !== undefined) this.#terminals.exit(terminalId, exit);
    this.grow(text);
  }

  shows(terminalId: string): boolean {
    return this.#parts.some((part) => 'terminalId' in part && part.terminalId === terminalId);
  }

  /** A terminal that it shows has printed: where there is nothing else, the output has grown by that. */
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

  /** `reason` stands for an output that there is none of. */
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
    // A stream of what was printed can have been cut short.
    if (said !== '') return raw.isPrinted && raw.text.length >= said.length ? raw.text : said;
    return success ? this.#rawText() : raw.text;
  }

  /** JSON for programs is shown only where there is nothing for people: a failure may have said its reason there. */
  #rawText(): string {
    const { text, isJson } = readRawOutput(this.rawOutput);
    const isShownOtherwise = this.hasDiffs || (this.#isSaidByTool && this.#blocks.length > 0);
    return isJson && isShownOtherwise ? '' : text;
  }

  /** Terminals are output whoever shows them. */
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
    // As far as it is shown: what is told again beyond that is nothing new.
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
