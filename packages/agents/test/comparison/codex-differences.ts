/**
 * The allowed differences between requests of Codex through Liminal and from its own terminal (0.171), with reasons.
 */
import type { Difference } from './compare.ts';

export const codexDifferences: Difference[] = [
  {
    line: /^\.tools\[mcp__codex_tui\]/,
    reason: 'The terminal lets the model begin, read and rename other threads, and make worktrees.',
  },
  {
    line: /^\.client_metadata\./,
    reason: 'Names the program that asks, and its threads, in any order.',
  },
  {
    line: /^\.input\[\]\.content\[\]\.(type: input_text|text: (<image |<\/image>|\[Image #1\] |What is this\?$))/,
    reason: 'A terminal names a pasted image and its file; here an image comes without a file.',
  },
];
