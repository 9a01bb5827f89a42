import { z } from 'zod';

/**
 * Claude Code's reports about a sent message. The SDK's types lack these reports. The first report about a message
 * means that the message is queued.
 */
const Lifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
});

/** How long an allowed call waits for its note, in ms: an older Claude Code may not report queued messages. */
const limitMs = 2_000;

/**
 * Notes that were sent with an answer, until Claude Code reports them as queued. Until Claude Code reports the note as
 * queued, the call must not run: if the call ends first, the model's next request lacks the note, and the note begins
 * its own turn.
 */
export class NotesQueued {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  add(uuid: string): void {
    this.#waiting.set(uuid, Promise.withResolvers());
  }

  /** Reads a message of Claude Code; ignores all messages except reports about queued messages. */
  read(message: unknown): void {
    if (this.#waiting.size === 0) return;
    const uuid = Lifecycle.safeParse(message).data?.command_uuid;
    if (uuid === undefined) return;
    this.#waiting.get(uuid)?.resolve();
    this.#waiting.delete(uuid);
  }

  /** Stops waiting, because Claude Code will send no more reports. */
  giveUp(): void {
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /** Resolves when all notes are queued, or after the time limit. */
  async allQueued(): Promise<void> {
    const timer = setTimeout(() => this.giveUp(), limitMs);
    await Promise.all([...this.#waiting.values()].map(({ promise }) => promise));
    clearTimeout(timer);
  }
}
