import type { ContentBlock, OutputItem } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';
import { readBlock } from './content.ts';

/** Whose words: the agent's to the user, its thoughts, or the user's own. */
export type Voice = 'agent' | 'thought' | 'user';

interface Open {
  voice: Voice;
  messageId: string | undefined;
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

  say(voice: Voice, text: string, messageId: string | undefined): void {
    if (text === '') return;
    const open = this.#speaking(voice, messageId);
    this.#begin(open);
    this.#writer.append(open.itemId, text);
  }

  /** A content block; what cannot be shown of it is kept. */
  show(voice: Voice, content: unknown, messageId: string | undefined): void {
    const { text, block, unread } = readBlock(content);
    if (text !== undefined) this.say(voice, text, messageId);
    if (block !== undefined) this.#addBlock(voice, block, messageId);
    if (unread !== undefined) this.#writer.keep(unread);
  }

  /** Something else happens: what is said after it is said anew. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return;
    const item = this.#writer.item(open.itemId);
    if (item?.type === 'message' && open.voice === 'agent') this.#lastMessage = item.content;
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

  #addBlock(voice: Voice, block: ContentBlock, messageId: string | undefined): void {
    // Thoughts have no place for it.
    if (voice === 'thought') return this.#writer.keep(block);
    const open = this.#speaking(voice, messageId);
    this.#begin(open);
    open.blocks = [...open.blocks, block];
    this.#writer.patch(open.itemId, { blocks: open.blocks });
  }

  #speaking(voice: Voice, messageId: string | undefined): Open {
    const open = this.#open;
    if (open !== undefined && open.voice === voice && isSame(open.messageId, messageId)) {
      open.messageId ??= messageId;
      return open;
    }
    this.close();
    const itemId = `${this.#writer.turnId}:${++this.#count}`;
    this.#open = { voice, messageId, itemId, blocks: [] };
    return this.#open;
  }

  /** An item begins with the first of it that is shown. */
  #begin({ itemId, voice }: Open): void {
    if (!this.#writer.isOpen(itemId)) this.#writer.start(emptyItem(voice, itemId));
  }
}

const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

function emptyItem(voice: Voice, id: string): OutputItem {
  if (voice === 'thought') return { type: 'reasoning', id, content: '', origin: 'agent' };
  return { type: 'message', id, content: '', origin: voice };
}
