/**
 * What real agents do that is easily got wrong, each as a scripted agent of its own that does it at any prompt: shapes
 * seen in opencode, Gemini CLI, Qwen Code, GitHub Copilot, Cline, pi and claude-agent-acp.
 */
import type { AgentScript, Step } from './script.ts';

const onAnyPrompt = (...steps: Step[]): AgentScript => ({ turns: [{ steps }] });

export const shapes = {
  /** Gemini CLI: a loop is stopped with a reason of its own. */
  stepLimit: onAnyPrompt({ say: 'Once more.' }, { stop: { stopReason: 'max_turn_requests' } }),

  /** Gemini CLI: it makes a file only after it has been told, in certain words, that there is none. */
  newFile: onAnyPrompt({
    request: {
      method: 'fs/read_text_file',
      params: { path: '{{cwd}}/made.txt' },
      onAnswer: [
        {
          when: 'No such file',
          steps: [
            {
              request: {
                method: 'fs/write_text_file',
                params: { path: '{{cwd}}/made.txt', content: 'made\n' },
              },
            },
            { say: 'It is made.' },
          ],
        },
        { steps: [{ say: 'It cannot be read.' }] },
      ],
    },
  }),
} satisfies Record<string, AgentScript>;
