import type { ContentBlock, OutputItem } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readBlock } from './content.ts';

/**
 * A message with more images or files is split into several, because each further block sends all blocks of its message
 * again.
 */
const maxBlocks = 50;

/** The speaker of a message: the agent (`thought` for its thoughts) or the user. */
export type Speaker = 'agent' | 'thought' | 'user';

/** The ids of the message that a chunk belongs to, if the agent reports them. */
export interface MessageRef {
  messageId?: string | undefined;
  /** The call that began the subagent, if a subagent speaks. */
  parentCallId?: string | undefined;
}

interface OpenMessage extends MessageRef {
  speaker: Speaker;
  itemId: string;
  blocks: ContentBlock[];
}

/**
 * Writes the messages of a turn: adjacent chunks of one speaker and one message form one item, unchanged. Repeated text
 * is shown twice: only the agent knows whether the repetition is intended.
 */
export class MessageWriter {
  readonly #writer: TurnWriter;
  /** The prefix of the items' ids. */
  readonly #place: string;
  #open: OpenMessage | undefined;
  #count = 0;
  #lastMessage: string | undefined;

  constructor(writer: TurnWriter, place: string = writer.turnId) {
    this.#writer = writer;
    this.#place = place;
  }

  /** The text of the agent's last message that has ended. */
  get lastMessage(): string | undefined {
    return this.#lastMessage;
  }

  appendText(speaker: Speaker, text: string, of: MessageRef = {}): void {
    if (text === '') return;
    const open = this.#openMessage(speaker, of);
    this.#begin(open);
    this.#writer.append(open.itemId, text);
  }

  /** Shows a content block, and keeps the parts that cannot be shown. */
  show(speaker: Speaker, content: unknown, of: MessageRef): void {
    const { text, block, unread } = readBlock(content);
    if (text !== undefined) this.appendText(speaker, text, of);
    if (block !== undefined) this.#addBlock(speaker, block, of);
    if (unread !== undefined) this.#writer.keep(unread);
  }

  /** Ends the open item, because something other than its text follows. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const item = this.#writer.item(open.itemId);
    const isOwn = open.speaker === 'agent' && open.parentCallId === undefined;
    if (item?.type === 'message' && isOwn) this.#lastMessage = item.content;
    if (item !== undefined) this.#writer.done(item.id, item);
  }

  /**
   * Called when the agent ends in the middle of a message. Returns whether an open item remains. Such an item shows
   * that the message was interrupted.
   */
  breakOff(unplaced: readonly unknown[]): boolean {
    const open = this.#open;
    if (open === undefined || !this.#writer.isOpen(open.itemId)) return false;
    if (unplaced.length > 0) this.#writer.patch(open.itemId, { raw: unplaced });
    // Close an item that has blocks: an item without text would be withdrawn.
    if (open.blocks.length > 0) this.close();
    return true;
  }

  #addBlock(speaker: Speaker, block: ContentBlock, of: MessageRef): void {
    // Reasoning items cannot have blocks.
    if (speaker === 'thought') return this.#writer.keep(block);
    if ((this.#open?.blocks.length ?? 0) >= maxBlocks) this.close();
    const open = this.#openMessage(speaker, of);
    this.#begin(open);
    open.blocks = [...open.blocks, block];
    this.#writer.patch(open.itemId, { blocks: open.blocks });
  }

  #openMessage(speaker: Speaker, { messageId, parentCallId }: MessageRef): OpenMessage {
    const open = this.#open;
    const isOne = open?.speaker === speaker && open.parentCallId === parentCallId;
    if (open !== undefined && isOne && isSameOrUnknown(open.messageId, messageId)) {
      open.messageId ??= messageId;
      return open;
    }
    this.close();
    const itemId = `${this.#place}:${++this.#count}`;
    this.#open = { speaker, messageId, parentCallId, itemId, blocks: [] };
    return this.#open;
  }

  /** Starts the item when it gets its first content. */
  #begin({ itemId, speaker, parentCallId }: OpenMessage): void {
    if (this.#writer.isOpen(itemId)) return;
    const item = emptyItem(speaker, itemId);
    this.#writer.start(parentCallId === undefined ? item : { ...item, parentCallId });
  }
}

const isSameOrUnknown = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

function emptyItem(speaker: Speaker, id: string): OutputItem {
  if (speaker === 'thought') return { type: 'reasoning', id, content: '', origin: 'agent' };
  return { type: 'message', id, content: '', origin: speaker };
}
