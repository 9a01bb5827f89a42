import type { ContentBlock, OutputItem } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readBlock } from './content.ts';

/** Whose words: the agent's to the user, its thoughts, or the user's own. */
export type Voice = 'agent' | 'thought' | 'user';

/** Which message words belong to, as far as the agent tells. */
export interface MessageOf {
  messageId?: string | undefined;
  /** The call of the subagent whose words they are. */
  parentCallId?: string | undefined;
}

interface Open extends MessageOf {
  voice: Voice;
  itemId: string;
  blocks: ContentBlock[];
}

/**
 * What is said in a turn: adjacent chunks of one voice and message are one item, to the letter. What is said twice is
 * shown twice, for nothing but a word of the agent's could prove that it was not meant.
 */
export class Speech {
  readonly #writer: TurnWriter;
  #open: Open | undefined;
  #count = 0;
  #lastMessage: string | undefined;

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  /** What the agent's last message said, once it has ended. */
  get lastMessage(): string | undefined {
    return this.#lastMessage;
  }

  say(voice: Voice, text: string, of: MessageOf = {}): void {
    if (text === '') return;
    const open = this.#speaking(voice, of);
    this.#begin(open);
    this.#writer.append(open.itemId, text);
  }

  /** A content block; what cannot be shown of it is kept. */
  show(voice: Voice, content: unknown, of: MessageOf): void {
    const { text, block, unread } = readBlock(content);
    if (text !== undefined) this.say(voice, text, of);
    if (block !== undefined) this.#addBlock(voice, block, of);
    if (unread !== undefined) this.#writer.keep(unread);
  }

  /** Something else happens: what is said after it is said anew. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const item = this.#writer.item(open.itemId);
    const isOwn = open.voice === 'agent' && open.parentCallId === undefined;
    if (item?.type === 'message' && isOwn) this.#lastMessage = item.content;
    if (item !== undefined) this.#writer.done(item.id, item);
  }

  /** The agent is gone in the middle of it; gives whether there is an item left to say so. */
  breakOff(unplaced: readonly unknown[]): boolean {
    const open = this.#open;
    if (open === undefined || !this.#writer.isOpen(open.itemId)) return false;
    if (unplaced.length > 0) this.#writer.patch(open.itemId, { raw: unplaced });
    // One without text would be withdrawn.
    if (open.blocks.length > 0) this.close();
    return true;
  }

  #addBlock(voice: Voice, block: ContentBlock, of: MessageOf): void {
    // Thoughts have no place for it.
    if (voice === 'thought') return this.#writer.keep(block);
    const open = this.#speaking(voice, of);
    this.#begin(open);
    open.blocks = [...open.blocks, block];
    this.#writer.patch(open.itemId, { blocks: open.blocks });
  }

  #speaking(voice: Voice, { messageId, parentCallId }: MessageOf): Open {
    const open = this.#open;
    const isOne = open?.voice === voice && open.parentCallId === parentCallId;
    if (open !== undefined && isOne && isSame(open.messageId, messageId)) {
      open.messageId ??= messageId;
      return open;
    }
    this.close();
    const itemId = `${this.#writer.turnId}:${++this.#count}`;
    this.#open = { voice, messageId, parentCallId, itemId, blocks: [] };
    return this.#open;
  }

  /** An item begins with the first of it that is shown. */
  #begin({ itemId, voice, parentCallId }: Open): void {
    if (this.#writer.isOpen(itemId)) return;
    const item = emptyItem(voice, itemId);
    this.#writer.start(parentCallId === undefined ? item : { ...item, parentCallId });
  }
}

const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

function emptyItem(voice: Voice, id: string): OutputItem {
  if (voice === 'thought') return { type: 'reasoning', id, content: '', origin: 'agent' };
  return { type: 'message', id, content: '', origin: voice };
}
