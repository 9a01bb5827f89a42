/**
 * Shows Claude Code's compactions, each as a system message that is open from the compaction's beginning to its end.
 */
import { z } from 'zod';
import type { Compaction } from '@liminal/protocol';
import type { TurnWriter } from '../../../base/turn-writer.ts';
import type { SystemMessage } from './native.ts';

const beginning = 'The conversation so far is being summarised to make room.';
export const summarised = 'The conversation so far was summarised to make room.';
const failed = 'The conversation could not be summarised to make room.';

const tokens = z.number().nonnegative().optional().catch(undefined);

const Boundary = z.looseObject({
  compact_metadata: z.looseObject({
    trigger: z.string().optional().catch(undefined),
    pre_tokens: tokens,
    post_tokens: tokens,
    preserved_messages: z
      .looseObject({ uuids: z.array(z.string()) })
      .optional()
      .catch(undefined),
  }),
});

/** A step of a compaction, with its message to people. */
export interface CompactionStep {
  state: 'begun' | 'done' | 'ended';
  status: Compaction;
  words: string;
}

/**
 * Returns the step of a compaction that a message reports; undefined for other messages. After the step `done` follows
 * the step `ended` (Claude Code's `compact_boundary`), with the conversation's size before and after.
 */
export function readCompaction(message: SystemMessage): CompactionStep | undefined {
  const { subtype, status, compact_result: result, compact_error: reason = '' } = message;
  if (subtype === 'compact_boundary') {
    return { state: 'ended', status: 'completed', words: howItEnded(message) };
  }
  if (subtype !== 'status') return undefined;
  if (status === 'compacting') {
    return { state: 'begun', status: 'in_progress', words: beginning };
  }
  if (result === 'success') {
    return { state: 'done', status: 'completed', words: summarised };
  }
  if (result !== 'failed') return undefined;
  const words = reason === '' ? failed : `${failed}\n\n${reason}`;
  return { state: 'ended', status: 'failed', words };
}

/** Returns the ids of the messages that a compaction has kept; Claude Code may send some of them again afterwards. */
export const preservedMessages = (message: SystemMessage): string[] | undefined =>
  message.subtype === 'compact_boundary'
    ? (Boundary.safeParse(message).data?.compact_metadata.preserved_messages?.uuids ?? [])
    : undefined;

function howItEnded(message: SystemMessage): string {
  const metadata = Boundary.safeParse(message).data?.compact_metadata;
  const details = [
    metadata?.trigger === 'manual'
      ? 'on request'
      : metadata?.trigger === 'auto'
        ? 'automatically'
        : '',
    metadata?.pre_tokens === undefined ? '' : `${counted(metadata.pre_tokens)} before`,
    metadata?.post_tokens === undefined ? '' : `${counted(metadata.post_tokens)} after`,
  ].filter((detail) => detail !== '');
  return details.length === 0 ? summarised : summarised.replace('.', ` (${details.join(', ')}).`);
}

const counted = (count: number): string => `${count.toLocaleString('en-GB')} tokens`;

/** The successive compactions of one turn. */
export class Compactions {
  readonly #writer: TurnWriter;
  #count = 0;
  #open: string | undefined;
  /** The step `done` of the open compaction, until `compact_boundary` adds details. */
  #ending: CompactionStep | undefined;

  constructor(writer: TurnWriter) {
    this.#writer = writer;
  }

  read(step: CompactionStep): void {
    const { state } = step;
    if (state === 'begun') this.close();
    this.#open ??= this.#begin();
    if (state === 'begun') return;
    this.#ending = step;
    if (state === 'ended') this.close();
  }

  /**
   * Ends the open compaction's item if the compaction is done. The item of an unfinished compaction ends with the turn.
   */
  close(): void {
    if (this.#open === undefined || this.#ending === undefined) return;
    const id = this.#open;
    const { words: content, status: compaction } = this.#ending;
    this.#writer.done(id, { type: 'message', id, content, origin: 'system', compaction });
    this.#open = this.#ending = undefined;
  }

  #begin(): string {
    const id = `${this.#writer.turnId}:compaction:${++this.#count}`;
    const compaction = 'in_progress';
    this.#writer.start({ type: 'message', id, content: '', origin: 'system', compaction });
    this.#writer.append(id, beginning);
    return id;
  }
}
