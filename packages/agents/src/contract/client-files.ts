/** A range of lines in a text. */
export interface TextPart {
  /** The first line, counted from 1. */
  line?: number | undefined;
  /** The number of lines. */
  limit?: number | undefined;
}

/**
 * The texts that the clients of a session have open. A client's text may have changes that are not saved to the disk; a
 * text that the agent writes appears in the client. Paths are absolute, and no part of them is a link.
 */
export interface ClientFiles {
  /**
   * Returns the text that a client has open; undefined if no client returns a text. The caller then reads the file from
   * the disk.
   */
  read(path: string, part?: TextPart): Promise<string | undefined>;
  /**
   * Lets a client write the text. Resolves to false if no client can both read and write files. Rejects, with a
   * sentence for the agent, if the client refuses, or if the client disconnects before confirming the write.
   */
  write(path: string, text: string): Promise<boolean>;
}
