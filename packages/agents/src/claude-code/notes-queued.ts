import { z } from 'zod';

/** Not among the SDK's types. The first one of a message reports that it is queued. */
const Lifecycle = z.looseObject({
  type: z.literal('command_lifecycle'),
  command_uuid: z.string(),
});

/** How long an allowed call waits for its note: an older Claude Code may not report what it has queued. */
const limitMs = 2_000;

/**
 * The notes that were sent with an answer, until Claude Code reports that it has queued them. A call that runs earlier
 * may end before its note is read: the model's next request would lack it, and the note would begin a turn of its own.
 */
export class NotesQueued {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>();

  add(uuid: string): void {
    this.#waiting.set(uuid, Promise.withResolvers());
  }

  /** Takes the report out of a message of Claude Code, if it is one. */
  read(message: unknown): void {
    if (this.#waiting.size === 0) return;
    const uuid = Lifecycle.safeParse(message).data?.command_uuid;
    if (uuid === undefined) return;
    this.#waiting.get(uuid)?.resolve();
    this.#waiting.delete(uuid);
  }

  /** No further report comes. */
  giveUp(): void {
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /** Resolves when all notes are queued, or after a limit. */
  async allQueued(): Promise<void> {
    const timer = setTimeout(() => this.giveUp(), limitMs);
    await Promise.all([...this.#waiting.values()].map(({ promise }) => promise));
    clearTimeout(timer);
  }
}
