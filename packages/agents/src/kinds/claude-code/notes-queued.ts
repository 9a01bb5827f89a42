import { z } from 'zod';

/** Missing from the SDK's types. The first such report about a message says that the message is queued. */
const Lifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
});

/** How long an allowed call waits for its note, in ms: an older Claude Code may not report queued messages. */
const limitMs = 2_000;

/**
 * Notes that were sent with an answer and that Claude Code has not yet reported as queued. A call that runs before its
 * note is queued may end too early: the model's next request would lack the note, and the note would begin its own
 * turn.
 */
export class NotesQueued {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  add(uuid: string): void {
    this.#waiting.set(uuid, Promise.withResolvers());
  }

  /** Reads Claude Code's message; other messages than these reports are ignored. */
  read(message: unknown): void {
    if (this.#waiting.size === 0) return;
    const uuid = Lifecycle.safeParse(message).data?.command_uuid;
    if (uuid === undefined) return;
    this.#waiting.get(uuid)?.resolve();
    this.#waiting.delete(uuid);
  }

  /** Stops waiting: no more reports will arrive. */
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
