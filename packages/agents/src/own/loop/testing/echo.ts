import { z } from 'zod';
import { type Tool, ToolError } from '../../tools/index.ts';

const echo: Tool<{ text: string }> = {
  name: 'echo',
  description: 'Says it again.',
  kind: 'other',
  input: z.object({ text: z.string() }),
  describe: async ({ text }) => ({ title: `Echo ${text}` }),
  needs: ({ text }) =>
    text === 'loud' ? [{ always: 'loud echoes', rule: 'tool:echo' }] : undefined,
  run: async ({ text }, { print }) => {
    if (text === 'fail') throw new ToolError('It did not work. Say something else.');
    print(`${text}…`);
    return { output: text, success: true };
  },
};

/** A tool that returns its input; `loud` needs a permission, and `fail` fails. */
export const loudEcho: Tool = echo;
