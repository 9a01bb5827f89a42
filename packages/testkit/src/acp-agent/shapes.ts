/**
 * What real agents do that is easily got wrong, each as a scripted agent of its own that does it at any prompt: shapes
 * seen in opencode, Gemini CLI, Qwen Code, GitHub Copilot, Cline, pi and claude-agent-acp.
 */
import type { AgentScript, Step } from './script.ts';

const onAnyPrompt = (...steps: Step[]): AgentScript => ({ turns: [{ steps }] });

export const shapes = {
  /** Gemini CLI: a loop is stopped with a reason of its own. */
  stepLimit: onAnyPrompt({ say: 'Once more.' }, { stop: { stopReason: 'max_turn_requests' } }),
} satisfies Record<string, AgentScript>;
