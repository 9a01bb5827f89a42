/** The definition of a link or a footnote. */
export interface Definition {
  /** The normalized label; it begins with `^` for a footnote. */
  label: string;
  /** The definition's Markdown. */
  source: string;
}

/** A piece of Markdown that is rendered by itself. When another block follows, the block's text no longer changes. */
export interface Block {
  /** The block's position in the message: a stable key while the message grows. */
  key: number;
  raw: string;
  /** Set for a fenced code block. The block is shown as code from its first line on. */
  code?: { text: string; lang: string; open: boolean };
  /** The reason why the block is shown as plain text (see `whyPlain`); undefined if the block is rendered. */
  plain?: string;
  /** Definitions that other blocks can refer to. */
  defines: readonly Definition[];
  /** The texts in brackets. Each may refer to a definition in another block. */
  labels: ReadonlySet<string>;
}
