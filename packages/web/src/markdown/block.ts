/** A definition of a link or a footnote. */
export interface Definition {
  /** Normalized; begins with `^` for a footnote. */
  label: string;
  /** The definition's Markdown. */
  source: string;
}

/** A piece of Markdown that is rendered by itself. The block's text no longer changes once another block follows. */
export interface Block {
  /** The block's position in the message: a stable key while the message grows. */
  key: number;
  raw: string;
  /** Set for a fenced code block, which is shown as code from its first line on. */
  code?: { text: string; lang: string; open: boolean };
  /** Why the block is shown as plain text (see `whyPlain`). */
  plain?: string;
  /** Definitions that other blocks can refer to. */
  defines: readonly Definition[];
  /** Texts in brackets, which may refer to definitions in another block. */
  labels: ReadonlySet<string>;
}
