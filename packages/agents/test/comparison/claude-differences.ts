/**
 * The allowed differences between requests of Claude Code through Liminal and from its own terminal (2.1.332), with
 * reasons.
 */
import type { Difference } from './compare.ts';

export const claudeDifferences: Difference[] = [
  { line: /cc_entrypoint=/, reason: 'Names the program that asks.' },
  {
    line: /You are (Claude Code, Anthropic's official CLI|a Claude agent, built on)/,
    reason: 'The SDK’s own first sentence, as `claude -p` has it.',
  },
  {
    line: /the `!` prefix runs the command in this session/,
    reason: 'Only the terminal’s prompt explains `!`, which also works in Liminal.',
  },
  { line: /claude-code-guide/, reason: 'The SDK lacks the agent that explains the terminal.' },
  {
    line: /tools\[Agent\].*(background|fork keeps its tool output)|run_in_background\.type/,
    reason:
      'In the terminal subagents always run in the background; the SDK leaves it to the model.',
  },
  {
    line: /tools\[Bash\].*run_in_background/,
    reason: 'The SDK limits how long a command may run in the background (docs/working.md).',
  },
  {
    line: /Command running in background with ID/,
    reason: 'The SDK’s text names the tool that reads the output.',
  },
  {
    line: /<local-command-stdout>.*Compacted/,
    reason: 'The terminal names its key for the summary.',
  },
  {
    line: /\[Image #1\]|content\[\]\.text: What is this\?|\[Image: source: /,
    reason: 'A terminal names a pasted image and its file; here an image comes without a file.',
  },
];
