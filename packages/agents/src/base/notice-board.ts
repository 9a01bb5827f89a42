import type { SessionNotice } from '@liminal/protocol';

/** Returns the notice about an MCP server that has not started yet. */
export const serverStarting = (name: string): string =>
  `The MCP server “${name}” is starting. The agent gets its tools as soon as it is ready.`;

/** A session's notices for people, by topic; new notices about a topic replace the earlier notices about the topic. */
export class NoticeBoard {
  readonly #onChange: (notices: SessionNotice[]) => void;
  readonly #notices = new Map<string, readonly SessionNotice[]>();

  /** @param onChange - Called with all notices, in the order in which their topics first appeared. */
  constructor(onChange: (notices: SessionNotice[]) => void) {
    this.#onChange = onChange;
  }

  get all(): SessionNotice[] {
    return [...this.#notices.values()].flat();
  }

  /** Replaces the notices about a topic; an empty list removes them. */
  put(topic: string, notices: readonly SessionNotice[]): void {
    const before = JSON.stringify(this.#notices.get(topic) ?? []);
    if (JSON.stringify(notices) === before) return;
    this.#notices.set(topic, notices);
    this.#onChange(this.all);
  }
}
