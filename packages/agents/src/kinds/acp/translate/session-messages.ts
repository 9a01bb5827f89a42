import { itemText } from '@liminal/protocol';
import { z } from 'zod';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readBlock } from './content.ts';
import { readFields } from './fields.ts';

const message = {
  sessionUpdate: z.string(),
  messageId: z.string(),
  senderSessionId: z.string(),
  recipientSessionId: z.string(),
  /** The content: one block in a chunk, all blocks in a whole message. */
  content: z.unknown(),
};

/**
 * Shows messages that an agent's sessions send each other (ACP, not stable yet). An agent sends a message whole, in
 * chunks, or both, in any order.
 */
export class SessionMessages {
  readonly #writer: TurnWriter;
  /** The open messages, each with the length of its first line. The first line contains the names of the sessions. */
  readonly #open = new Map<string, number>();

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  read(update: unknown): void {
    const { fields, rest } = readFields(update, message);
    const { sessionUpdate, messageId, senderSessionId, recipientSessionId, content } = fields;
    if (messageId === undefined) return this.#writer.keep(update);
    if (rest !== undefined) this.#writer.keep(rest);
    const text = this.#textOf(content);
    if (text === '') return;
    const isComplete = sessionUpdate === 'session_message';
    if (!this.#open.has(messageId)) this.#start(messageId, senderSessionId, recipientSessionId);
    const before = this.#shown(messageId);
    // A whole message repeats the text of its chunks, so append only the rest.
    const more = isComplete && text.startsWith(before) ? text.slice(before.length) : text;
    if (more !== '') this.#writer.append(this.#itemId(messageId), more);
  }

  /** Called at the turn's end. */
  close(): void {
    for (const messageId of this.#open.keys()) this.#writer.done(this.#itemId(messageId));
    this.#open.clear();
  }

  #itemId(messageId: string): string {
    return `${this.#writer.turnId}:between:${messageId}`;
  }

  #start(messageId: string, sender: string | undefined, recipient: string | undefined): void {
    const from = sender === undefined ? '' : ` from ${sender}`;
    const to = recipient === undefined ? '' : ` to ${recipient}`;
    const id = this.#itemId(messageId);
    this.#writer.start({ type: 'message', id, content: '', origin: 'system' });
    const head = `Message between sessions${from}${to}:\n\n`;
    this.#writer.append(id, head);
    this.#open.set(messageId, head.length);
  }

  #shown(messageId: string): string {
    const item = this.#writer.item(this.#itemId(messageId));
    return item === undefined ? '' : itemText(item).slice(this.#open.get(messageId));
  }

  #textOf(content: unknown): string {
    const blocks = content === undefined ? [] : [content].flat();
    return blocks
      .map((value) => {
        const { text = '', block, unread } = readBlock(value);
        const unshown = unread ?? block;
        if (unshown !== undefined) this.#writer.keep(unshown);
        return text;
      })
      .join('');
  }
}
