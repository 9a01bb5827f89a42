import { z } from 'zod';
import type { Compaction } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import { readBlock } from './content.ts';
import { readFields } from './fields.ts';

const compactionUpdate = {
  sessionUpdate: z.string(),
  compactionId: z.string(),
  status: z.string(),
  summary: z.array(z.unknown()),
  error: z.string(),
  /** A chunk of the summary. */
  content: z.unknown(),
};

const beginning = 'The conversation so far is being summarised to make room.';
const endings: Record<string, CompactionEnd> = {
  completed: {
    words: 'The conversation so far was summarised to make room.',
    compaction: 'completed',
  },
  failed: { words: 'The conversation could not be summarised to make room.', compaction: 'failed' },
  cancelled: {
    words: 'The summary of the conversation was broken off.',
    compaction: 'in_progress',
  },
};

/**
 * The starts of the sentences above, by which the sentences are recognised: an agent that is itself a Liminal sends
 * these sentences, with details at the end.
 */
const known = [beginning, ...Object.values(endings).map(({ words }) => words)].map((words) =>
  words.slice(0, -1),
);

interface CompactionEnd {
  words: string;
  compaction: Compaction;
}

interface OpenCompaction {
  itemId: string;
  summary: string;
}

/**
 * Shows a compaction (the agent summarises its context to make room) as a message with the summary, if the agent sends
 * a summary.
 */
export class Compactions {
  readonly #writer: TurnWriter;
  readonly #open = new Map<string, OpenCompaction>();
  #count = 0;

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  read(update: unknown): void {
    const { fields, rest } = readFields(update, compactionUpdate);
    const { compactionId = '', status = '', summary, error, content } = fields;
    if (rest !== undefined) this.#writer.keep(rest);
    const open = this.#open.get(compactionId) ?? this.#begin(compactionId);
    if (content !== undefined) this.#grow(open, this.#textOf([content]));
    if (summary !== undefined) open.summary = this.#textOf(summary);
    const ending = Object.hasOwn(endings, status) ? endings[status] : undefined;
    if (ending !== undefined) this.#end(compactionId, open, ending, error);
    else if (error !== undefined) this.#writer.keep({ error });
  }

  #begin(compactionId: string): OpenCompaction {
    const itemId = `${this.#writer.turnId}:compaction:${++this.#count}`;
    const compaction = 'in_progress';
    this.#writer.start({ type: 'message', id: itemId, content: '', origin: 'system', compaction });
    this.#writer.append(itemId, beginning);
    const open = { itemId, summary: '' };
    this.#open.set(compactionId, open);
    return open;
  }

  #grow(open: OpenCompaction, text: string): void {
    if (text === '') return;
    this.#writer.append(open.itemId, open.summary === '' ? `\n\n${text}` : text);
    open.summary += text;
  }

  #end(
    compactionId: string,
    { itemId, summary }: OpenCompaction,
    { words, compaction }: CompactionEnd,
    error = '',
  ): void {
    this.#open.delete(compactionId);
    const details = [error, summary].filter((text) => text !== '').join('\n\n');
    const hasKnownSentence = known.some((sentence) => details.startsWith(sentence));
    const content = [hasKnownSentence ? '' : words, details]
      .filter((text) => text !== '')
      .join('\n\n');
    const item = { type: 'message', id: itemId, content, origin: 'system', compaction } as const;
    this.#writer.done(itemId, item);
  }

  #textOf(blocks: readonly unknown[]): string {
    const texts = blocks.map((value) => {
      const { text, block, unread } = readBlock(value);
      const unshown = block === undefined ? unread : value;
      if (unshown !== undefined) this.#writer.keep(unshown);
      return text ?? '';
    });
    return texts.join('');
  }
}
