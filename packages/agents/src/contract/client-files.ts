/** A range of lines in a text. */
export interface TextPart {
  /** The first line, counted from 1. */
  line?: number | undefined;
  /** The number of lines. */
  limit?: number | undefined;
}

/**
 * The texts that the clients of a session have open. An editor's text may have changes that are not on the disk, and the
 * editor shows what is written to it. Paths are absolute, and no part of them is a link.
 */
export interface ClientFiles {
  /** The text as a client has it; undefined if no client offers it: then the disk counts. Never rejects. */
  read(path: string, part?: TextPart): Promise<string | undefined>;
  /**
   * Whether a client has written the text; false if no client offers to. Rejects, with a sentence for the agent, if the
   * client refuses, or disconnects before it has confirmed the write.
   */
  write(path: string, text: string): Promise<boolean>;
}
