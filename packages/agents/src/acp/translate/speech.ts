import type { ContentBlock, OutputItem } from '@liminal/protocol';
import type { TurnWriter } from '../../base/turn-writer.ts';

/** Whose words: the agent's to the user, its thoughts, or the user's own. */
export type Voice = 'agent' | 'thought' | 'user';

interface Open {
  voice: Voice;
  messageId: string | undefined;
  itemId: string;
  blocks: ContentBlock[];
}

/** What is said in a turn: adjacent chunks of one voice and message are one item. */
export class Speech {
  readonly #writer: TurnWriter;
  #open: Open | undefined;
  #count = 0;

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  say(voice: Voice, text: string, messageId: string | undefined): void {
    if (text === '') return;
    this.#writer.append(this.#speaking(voice, messageId).itemId, text);
  }

  show(voice: Voice, block: ContentBlock, messageId: string | undefined): void {
    const open = this.#speaking(voice, messageId);
    if (voice === 'thought') return this.#writer.keep(block);
    open.blocks = [...open.blocks, block];
    this.#writer.patch(open.itemId, { blocks: open.blocks });
  }

  /** Something else happens: what is said after it is said anew. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (open !== undefined) this.#writer.done(open.itemId);
  }

  #speaking(voice: Voice, messageId: string | undefined): Open {
    const open = this.#open;
    if (open !== undefined && open.voice === voice && isSame(open.messageId, messageId)) {
      open.messageId ??= messageId;
      return open;
    }
    this.close();
    const itemId = `${this.#writer.turnId}:${++this.#count}`;
    this.#writer.start(item(voice, itemId));
    this.#open = { voice, messageId, itemId, blocks: [] };
    return this.#open;
  }
}

const isSame = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other;

function item(voice: Voice, id: string): OutputItem {
  if (voice === 'thought') return { type: 'reasoning', id, content: '', origin: 'agent' };
  return { type: 'message', id, content: '', origin: voice };
}
