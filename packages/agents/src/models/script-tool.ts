import { z } from 'zod';
import type { TurnWriter } from '../base/turn-writer.ts';
import { describeTools, runScript, type ScriptHost, type ScriptOutcome } from '../scripts/index.ts';
import type { Tool, ToolResult } from '../tools/index.ts';
import type { ToolFace } from './model-client.ts';
import type { WantedCall } from './tool-calls.ts';

/** The name of the tool that runs a script. */
export const scriptName = 'run_script';

/** What a tool's call came to. */
export type Answer = Pick<ToolResult, 'output' | 'success'>;

const Input = z.object({
  code: z.string().min(1).describe('The body of an async JavaScript function.'),
});

/** How the model is told of it. @param faces - The tools that a script can use. */
export function scriptFace(faces: readonly ToolFace[]): ToolFace {
  const description = `Runs JavaScript that calls the other tools: for many calls in a row, or when only a part of what they say matters. The code is the body of an async function; it has nothing besides these, and returns a JSON value:\n\n${describeTools(faces)}`;
  const { $schema: _, ...parameters } = z.toJSONSchema(Input, { io: 'input' });
  return { name: scriptName, description, parameters };
}

/**
 * The tool for one call of it: says its start, the calls that the script makes, and its end (seed 001, A.5).
 * @param run - Runs a call of the script as one of the model's own, with its permission.
 */
export function scriptTool(
  { itemId }: WantedCall,
  tools: ScriptHost['tools'],
  writer: () => TurnWriter,
  run: (call: WantedCall, signal: AbortSignal) => Promise<Answer>,
): Tool<z.infer<typeof Input>> {
  const scriptId = `${itemId}:script`;
  let count = 0;
  const host: ScriptHost = {
    tools,
    call: async (name, input, signal) => {
      const callId = `${scriptId}:${++count}`;
      const said = { name, callId, arguments: JSON.stringify(input ?? {}) };
      const item = { type: 'function_call', id: callId, ...said, origin: 'agent' } as const;
      const whole = { ...item, parentCallId: scriptId };
      writer().start(whole);
      return run({ ...said, itemId: callId, item: whole }, signal);
    },
  };
  return {
    name: scriptName,
    description: '',
    kind: 'execute',
    input: Input,
    face: async () => ({ title: 'Script' }),
    needs: () => undefined,
    run: async ({ code }, { signal }) => {
      writer().write({ type: 'script_execution_start', itemId: scriptId, code });
      const outcome = await runScript(code, host, { signal });
      if (outcome.ok) {
        const result = JSON.stringify(outcome.result);
        writer().write({ type: 'script_execution_done', itemId: scriptId, result, success: true });
      } else {
        const { error } = outcome;
        writer().write({ type: 'script_execution_error', itemId: scriptId, error });
      }
      return { output: wordsOf(outcome), success: outcome.ok };
    },
  };
}

function wordsOf(outcome: ScriptOutcome): string {
  const { printed } = outcome;
  const end = outcome.ok ? JSON.stringify(outcome.result) : failure(outcome.error);
  return `${printed}${printed === '' || printed.endsWith('\n') ? '' : '\n'}${end}`;
}

const failure = ({
  code,
  message,
  stack,
}: {
  code: string;
  message: string;
  stack?: string | undefined;
}): string => [`${code}: ${message}`, stack].filter(Boolean).join('\n');
