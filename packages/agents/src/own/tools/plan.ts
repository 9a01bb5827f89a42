import { PlanEntry } from '@liminal/protocol';
import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.object({
  entries: z
    .array(
      z.object({
        content: z.string().min(1).max(1_000).describe('One step, in a short sentence.'),
        priority: PlanEntry.shape.priority.default('medium'),
        status: PlanEntry.shape.status,
      }),
    )
    .max(100)
    .describe('All steps, in order. They replace those of the last call.'),
});

/** A tool that shows people the model's plan and progress. */
export const planTool: Tool<z.infer<typeof Input>> = {
  name: 'plan',
  description:
    'Shows your plan to the user. Use it for work of several steps; call it again with the whole list when a step begins or is done.',
  kind: 'think',
  input: Input,
  describe: async () => ({ title: 'Plan' }),
  needs: () => undefined,
  run: async ({ entries }) => {
    const done = entries.filter(({ status }) => status === 'completed').length;
    const output = `The plan is shown: ${done} of ${entries.length} steps are done.`;
    return { output, success: true, plan: entries };
  },
};
