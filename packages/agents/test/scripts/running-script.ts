import {
  runScript,
  type ScriptHost,
  type ScriptOptions,
  type ScriptOutcome,
} from '../../src/own/scripts/index.ts';

type Tool = (input: unknown, signal: AbortSignal) => string | Promise<string>;

/** A script host with these tools; a tool that throws counts as failed. */
function hostOf(tools: Record<string, Tool>): ScriptHost {
  return {
    tools: Object.keys(tools).map((name) => ({ name })),
    call: async (name, input, signal) => {
      const output = await tools[name]!(input, signal);
      return { output, success: true };
    },
  };
}

/** A tool that returns its input. */
export const echo: Tool = (input) => JSON.stringify(input);

/** A tool that ends only when its signal aborts. */
export const hang: Tool = async (_input, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

export async function run(
  code: string,
  tools: Record<string, Tool> = { echo },
  options: Partial<ScriptOptions> = {},
): Promise<ScriptOutcome> {
  return runScript(code, hostOf(tools), { signal: new AbortController().signal, ...options });
}

/** The result of a script, or its error. */
export async function resultOf(code: string, tools?: Record<string, Tool>): Promise<unknown> {
  const outcome = await run(code, tools);
  return outcome.ok ? outcome.result : outcome.error;
}
