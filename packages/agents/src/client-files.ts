/** Which lines of a text are wanted. */
export interface TextPart {
  /** The first one, counted from 1. */
  line?: number | undefined;
  /** How many. */
  limit?: number | undefined;
}

/**
 * The texts that the clients of a session have open. An editor's may have changes that are not on the disk, and it
 * shows what is written to it. Paths are absolute, and no part of them is a link.
 */
export interface ClientFiles {
  /** The text as a client has it; undefined if none offers it: then the disk counts. Never rejects. */
  read(path: string, part?: TextPart): Promise<string | undefined>;
  /**
   * Whether a client has written it; if none offers that, nothing was written. Rejects, with a sentence for the agent,
   * if the client refuses, or goes before it has said whether it was written.
   */
  write(path: string, text: string): Promise<boolean>;
}
