import type { SessionNotice } from '@liminal/protocol';

/** What people should know about one session, from several that tell of it; each has its word once. */
export class NoticeBoard {
  readonly #onChange: (notices: SessionNotice[]) => void;
  readonly #notices = new Map<string, readonly SessionNotice[]>();

  /** @param onChange - Is given all that stands on the board, in the order in which it was first told of. */
  constructor(onChange: (notices: SessionNotice[]) => void) {
    this.#onChange = onChange;
  }

  get all(): SessionNotice[] {
    return [...this.#notices.values()].flat();
  }

  /** What is to be known about a matter now, in place of what was told of it before; nothing where it is empty. */
  put(matter: string, notices: readonly SessionNotice[]): void {
    const before = JSON.stringify(this.#notices.get(matter) ?? []);
    if (JSON.stringify(notices) === before) return;
    this.#notices.set(matter, notices);
    this.#onChange(this.all);
  }
}
