import type { ClaudeCalls } from './calls.ts';
import type { ApiEvent, NativeBlock, StreamMessage } from './native.ts';
import type { TurnWriter } from '../../../base/turn-writer.ts';

interface StreamedBlock {
  itemId: string;
  type: 'text' | 'thinking' | 'tool_use';
  callId: string;
  /** Whether the whole block has arrived. Only then the block's streamed text is valid. */
  isComplete: boolean;
}

/** Returns whether a block is a tool call of the client, the API or an MCP server. */
export const isToolUse = (type: string): boolean => type.endsWith('tool_use');

/**
 * One streaming answer of the model. Before the stream of a block ends, Claude Code sends the whole block. If the
 * attempt is abandoned, the text of blocks that did not arrive whole is withdrawn.
 */
export class StreamedMessage {
  readonly id: string;
  readonly #ordinal: number;
  readonly #writer: TurnWriter;
  readonly #calls: ClaudeCalls;
  readonly #blocks = new Map<number, StreamedBlock>();
  #isComplete = false;

  constructor(id: string, ordinal: number, writer: TurnWriter, calls: ClaudeCalls) {
    this.id = id;
    this.#ordinal = ordinal;
    this.#writer = writer;
    this.#calls = calls;
  }

  /** Reads an event. If the message breaks off with this event, `keep` is passed to `abandon`. */
  read(event: ApiEvent, keep: boolean, abandoned: StreamMessage['abandoned_blocks']): void {
    switch (event.type) {
      case 'content_block_start':
        return this.#start(event.index, event.content_block);
      case 'content_block_delta': {
        const { text, thinking, partial_json: json } = event.delta;
        return this.#append(event.index, text ?? thinking ?? json ?? '');
      }
      case 'message_delta':
        this.#isComplete = event.delta.stop_reason != null;
        return;
      case 'message_stop':
        return this.#stop(keep, abandoned?.from_block_index);
      case 'message_start':
      case 'content_block_stop':
        return;
    }
  }

  /**
   * Completes a streamed block with the whole block. Returns the id of the block's item; undefined if the block was not
   * streamed.
   */
  confirm(block: NativeBlock): string | undefined {
    const type = blockType(block);
    for (const streamed of this.#blocks.values()) {
      const isSame = type === 'tool_use' ? streamed.callId === block.id : streamed.type === type;
      if (!isSame || streamed.isComplete) continue;
      streamed.isComplete = true;
      this.#finish(streamed, block);
      return streamed.itemId;
    }
    return undefined;
  }

  /**
   * Ends an abandoned attempt. If the user stopped the turn (`keep`), the attempt's text stays; otherwise the text is
   * withdrawn.
   */
  abandon(keep: boolean, fromIndex = 0): void {
    for (const [index, block] of this.#blocks) {
      if (block.isComplete || index < fromIndex) continue;
      if (block.type === 'tool_use') this.#calls.abandon(block.itemId, block.callId);
      else if (keep) this.#settle(block.itemId);
      else this.#writer.cancel(block.itemId, 'retried');
    }
  }

  #start(index: number, block: NativeBlock): void {
    const id = `${this.#writer.turnId}:${this.#ordinal}:${index}`;
    const type = blockType(block);
    if (type === undefined) return;
    this.#blocks.set(index, { itemId: id, type, callId: block.id ?? '', isComplete: false });
    if (type === 'tool_use') this.#calls.begin(id, block);
    if (type === 'text') this.#writer.start({ type: 'message', id, content: '', origin: 'agent' });
    if (type === 'thinking') {
      this.#writer.start({ type: 'reasoning', id, content: '', origin: 'agent' });
    }
    this.#append(index, block.text ?? block.thinking ?? '');
  }

  #append(index: number, text: string): void {
    const block = this.#blocks.get(index);
    if (block !== undefined) this.#writer.append(block.itemId, text);
  }

  #finish({ itemId, type }: StreamedBlock, complete: NativeBlock): void {
    if (type === 'tool_use') return this.#calls.complete(itemId, complete);
    const item = this.#writer.item(itemId);
    if (item?.type !== 'message' && item?.type !== 'reasoning') return;
    const content = complete.text ?? complete.thinking ?? '';
    // The whole block of an interrupted answer may be shorter than its streamed text: keep the longer text, because
    // shown text is never shortened.
    const longest = content.length < item.content.length ? item.content : content;
    if (longest === '') this.#writer.cancel(itemId, 'empty');
    else this.#writer.done(itemId, { ...item, content: longest });
  }

  #stop(keep: boolean, abandonedFrom: number | undefined): void {
    if (!this.#isComplete) this.abandon(keep, abandonedFrom);
    for (const { itemId, isComplete: isWhole, type } of this.#blocks.values()) {
      if (!isWhole && type !== 'tool_use') this.#settle(itemId);
    }
  }

  /** Ends an item with its streamed text; removes the item if it is empty. */
  #settle(itemId: string): void {
    const item = this.#writer.item(itemId);
    const isEmpty = (item?.type === 'message' || item?.type === 'reasoning') && item.content === '';
    if (isEmpty) this.#writer.cancel(itemId, 'empty');
    else this.#writer.done(itemId);
  }
}

/**
 * Returns a block's type if the stream of such blocks is read; undefined if the block is read only once the whole block
 * has arrived.
 */
function blockType(block: NativeBlock): StreamedBlock['type'] | undefined {
  if (isToolUse(block.type)) return 'tool_use';
  return block.type === 'text' || block.type === 'thinking' ? block.type : undefined;
}
